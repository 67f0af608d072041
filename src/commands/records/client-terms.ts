import type { Command } from 'commander'
import { agreeDiscounts, discountsOf, findProduct } from '../../catalog/queries.ts'
import { parseDiscount, parseFee, parseLimits } from '../../config/values.ts'
import { toPercent } from '../../kernel/money.ts'
import type { Feature } from '../../sessions/clients.ts'
import { type ClientRecord, updateClient } from '../../sessions/queries.ts'
import { choiceArgument, wholeNumber } from '../arguments.ts'
import { listOf, type Row } from '../terminal/cells.ts'
import { type Acting, act } from './acts.ts'
import { administer, dataCommand, refused } from './administration.ts'
import { clientRow, getClient } from './client-records.ts'
import { type ListOptions, limited, listCommand } from './lists.ts'

/** `scrip client`: what each client may do, and at which discounts (contract C8, C17). */

const FEATURES: readonly Feature[] = ['vouchers']

export const termCommands = (client: Command): void => {
  dataCommand(client, 'disable', 'lock a client out and revoke its tokens')
    .argument('<name>')
    .action(update(() => ({ disabled: true })))
  dataCommand(client, 'enable', 'let a disabled client log in again')
    .argument('<name>')
    .action(update(() => ({ disabled: false })))
  dataCommand(client, 'feature', 'turn a feature on or off')
    .argument('<name>')
    .addArgument(choiceArgument('<feature>', 'the feature', FEATURES))
    .addArgument(choiceArgument('<on|off>', 'the setting', ['on', 'off']))
    .action(update((feature: Feature, setting: 'on' | 'off') => ({ [feature]: setting === 'on' })))
  dataCommand(client, 'limit', 'set the largest quantity that a client may buy at once')
    .argument('<name>')
    .argument('<max_quantity|off>', 'a number, or off', countOrOff)
    .action(update((count: number | 'off') => ({ quantityMax: quantityOf(count) })))
  dataCommand(client, 'limits', 'show the limits of a client, or set them')
    .argument('<name>')
    .option('--max-quantity <number>', 'the largest quantity that it may buy at once, or off', countOrOff)
    .option('--rate-limit <limits>', 'its own rate limits, off for none, default for those of the server', ownLimits)
    .action(limits)
  dataCommand(client, 'fees', 'show the fees of a client, or set them')
    .argument('<name>')
    .option('--conversion-fee <percent>', 'its own fee for paying in another currency, or default', ownFee)
    .option('--payout-fee <percent>', 'its own fee on each payout, or default for that of the server', ownFee)
    .action(fees)
  dataCommand(client, 'discount', "set a client's own discount on a product; the better of the two discounts applies")
    .argument('<name>')
    .argument('<product_id>', 'the product', wholeNumber)
    .argument('<percent>', 'for example 7.5; 0 removes it', parseDiscount)
    .action(act(setDiscount))
  listCommand(client, 'discounts', "list a client's own discounts")
    .argument('<name>')
    .action(
      administer(({ database: { query } }, name: string, options: ListOptions) => {
        const agreed = [...discountsOf(query, getClient(query, name).id)].filter(([, basisPoints]) => basisPoints > 0)
        const rows = agreed.map(([product_id, basisPoints]) => ({
          product_id,
          product: findProduct(query, product_id)?.name ?? 'not in the catalog',
          discount: toPercent(basisPoints),
        }))
        return listOf(['product_id', 'product', 'discount'], limited(rows, options))
      }),
    )
}

const countOrOff = (text: string): number | 'off' => (text === 'off' ? text : wholeNumber(text))

const quantityOf = (count: number | 'off'): number | null => (count === 'off' ? null : count)

/** Stands for what the server has. */
const DEFAULT = 'default'

/** As text, which the database keeps. */
const ownLimits = (text: string): string => {
  if (text !== DEFAULT) parseLimits(text)
  return text
}

interface Limits {
  maxQuantity?: number | 'off'
  rateLimit?: string
}

async function limits(this: Command, name: string, { maxQuantity, rateLimit }: Limits): Promise<void> {
  const change = {
    ...(maxQuantity !== undefined && { quantityMax: quantityOf(maxQuantity) }),
    ...(rateLimit !== undefined && { rateLimit: rateLimit === DEFAULT ? null : rateLimit }),
  }
  await showOrUpdate(change, limitsRow).call(this, name)
}

type Fee = number | typeof DEFAULT

const ownFee = (text: string): Fee => (text === DEFAULT ? text : parseFee(text))

const basisPointsOf = (fee: Fee): number | null => (fee === DEFAULT ? null : fee)

async function fees(this: Command, name: string, given: { conversionFee?: Fee; payoutFee?: Fee }): Promise<void> {
  const { conversionFee, payoutFee } = given
  const change = {
    ...(conversionFee !== undefined && { conversionFeeBasisPoints: basisPointsOf(conversionFee) }),
    ...(payoutFee !== undefined && { payoutFeeBasisPoints: basisPointsOf(payoutFee) }),
  }
  await showOrUpdate(change, feesRow).call(this, name)
}

const feesRow = (client: ClientRecord) => ({ username: client.username, ...feesOf(client) })

/** Percentages. */
export const feesOf = ({ conversionFeeBasisPoints, payoutFeeBasisPoints }: ClientRecord) => ({
  conversion_fee: conversionFeeBasisPoints === null ? DEFAULT : toPercent(conversionFeeBasisPoints),
  payout_fee: payoutFeeBasisPoints === null ? DEFAULT : toPercent(payoutFeeBasisPoints),
})

/** Without a change it only shows, which is no act. */
const showOrUpdate = (change: Parameters<typeof updateClient>[2], rowOf: (client: ClientRecord) => Row) =>
  Object.keys(change).length === 0
    ? administer(({ database: { query } }, name: string) => rowOf(getClient(query, name)))
    : act(({ write, record }, name: string) =>
        write((tx) => {
          const before = getClient(tx, name)
          updateClient(tx, before.id, change)
          const after = rowOf(getClient(tx, name))
          record(tx, { before: rowOf(before), after })
          return after
        }),
      )

const limitsRow = ({ username, quantityMax, rateLimit }: ClientRecord) => ({
  username,
  max_quantity: quantityMax,
  rate_limit: rateLimit ?? DEFAULT,
})

const update = <Args extends unknown[]>(valuesOf: (...args: Args) => Parameters<typeof updateClient>[2]) =>
  act(({ write, record }, name: string, ...args: Args) =>
    write((tx) => {
      const before = clientRow(getClient(tx, name))
      updateClient(tx, before.client_id, valuesOf(...args))
      const after = clientRow(getClient(tx, name))
      record(tx, { before, after })
      return after
    }),
  )

const setDiscount = ({ write, record }: Acting, name: string, productId: number, discountBasisPoints: number) =>
  write((tx): Row => {
    const { id: clientId, username } = getClient(tx, name)
    const product = findProduct(tx, productId)
    if (product === undefined) throw refused(`there is no product ${productId}\nSee scrip catalog export.`)
    agreeDiscounts(tx, [{ clientId, productId, discountBasisPoints }])
    record(tx, { after: { product_id: productId, discount: toPercent(discountBasisPoints) } })
    return { username, product_id: productId, product: product.name, discount: toPercent(discountBasisPoints) }
  })
