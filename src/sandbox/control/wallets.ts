import { Type } from '@sinclair/typebox'
import { valuesIn } from '../../acts/fields.ts'
import { walletActs } from '../../acts/wallets.ts'
import { idPath } from '../../http/parameters.ts'
import { nullable, oneOf } from '../../http/schemas.ts'
import { toMajor } from '../../kernel/money.ts'
import type { Reference } from '../../reference/reference.ts'
import type { Wallet } from '../../wallets/queries.ts'
import type { Parts } from '../parts.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import { controlRoutes } from './operation.ts'
import { asOperation, contextIn, lineOf, presentWorld, stepRoutes } from './steps.ts'

/** Wallets as a test opens and fills them (contract C15). */

const walletFields = { id: Type.Integer(), currency: Type.String(), amount: Type.Number() }
const WalletState = Type.Object(walletFields, { title: 'WalletState' })
const WalletThreshold = Type.Object(
  { ...walletFields, threshold: nullable(Type.Number()) },
  { title: 'WalletThreshold' },
)

const WalletType = oneOf<'PREPAID' | 'POSTPAID'>(['PREPAID', 'POSTPAID'], { default: 'PREPAID' })

export const walletRoutes = (parts: Parts) => {
  const stepping = { params: idPath('wallet'), example: 1 }
  const moved = { description: 'The wallet with its new amount', schema: WalletState }
  const updated = { description: 'The wallet with its threshold', schema: WalletThreshold }
  const routes = openingRoutes(parts)
  stepRoutes(parts, [walletActs.fund], { ...stepping, response: moved, wire: stateOf }, routes)
  return stepRoutes(parts, [walletActs.threshold], { ...stepping, response: updated, wire: thresholdOf }, routes)
}

const { takes, by: open } = walletActs.add

const openingRoutes = (parts: Parts) =>
  controlRoutes().post(
    '/wallets',
    async ({ query, body, set }) => {
      const world = await presentWorld(parts, query.world)
      const { type = 'PREPAID' } = body
      const { client = SANDBOX_CLIENT_IDS.sandbox, ...opened } = valuesIn(takes, body)
      const wallet = await world.db.write((tx) =>
        asOperation(() => open(tx, { ...opened, client, type }, contextIn(parts, world))),
      )
      world.forgetDerived()
      set.headers.Location = `/api/v1/wallets/${wallet.id}`
      return stateOf(wallet, parts.reference)
    },
    {
      ...lineOf(walletActs.add, Type.Object({ type: Type.Optional(WalletType) })),
      response: {
        status: 201,
        description: 'The wallet, empty',
        schema: WalletState,
        example: { id: 6, currency: 'KWD', amount: 0 },
      },
    },
  )

const stateOf = ({ id, currencyId, amountMinor }: Wallet, reference: Reference) => {
  const { currency, precision } = reference.shownCurrency(currencyId)
  return { id, currency, amount: toMajor(amountMinor, precision) }
}

const thresholdOf = (wallet: Wallet, reference: Reference) => {
  const { thresholdMinor, currencyId } = wallet
  const { precision } = reference.shownCurrency(currencyId)
  return {
    ...stateOf(wallet, reference),
    threshold: thresholdMinor === null ? null : toMajor(thresholdMinor, precision),
  }
}
