import type { Pricing } from '../../charges/quote.ts'
import { readText } from '../../http/body.ts'
import { parseObject } from '../../http/json.ts'
import type { Asked } from '../../http/request-id.ts'
import type { Session } from '../../sessions/sessions.ts'
import { findPayingWallet, findWallet } from '../../wallets/queries.ts'

/** The currencies of the product, or of the payout, and of the wallet that pays, if what was sent names them. */
export const currenciesOf = async (
  { catalog, reference }: Pick<Pricing, 'catalog' | 'reference'>,
  { request, path }: Asked,
  { world, client }: Session,
): Promise<{ from: string; to: string } | undefined> => {
  try {
    const { product_id: productId, wallet_id: walletId, currency } = parseObject(await readText(request))
    const product = catalog.in(world).find(Number(/\/products\/(\d+)\//.exec(path)?.[1] ?? productId))
    const from = product?.currency ?? reference.findCurrencyByCode(String(currency))
    if (!from) return undefined
    const wallet =
      typeof walletId === 'number'
        ? findWallet(world.db.query, client.id, walletId)
        : findPayingWallet(world.db.query, client.id, from.id)
    return wallet && { from: from.currency, to: reference.getCurrency(wallet.currencyId).currency }
  } catch {
    return undefined // what cannot be read says nothing
  }
}
