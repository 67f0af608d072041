import { plus } from '../../kernel/money.ts'
import type { Purchase } from './statement.ts'

/** Purchases that are alike, in one run. */
export interface Tally {
  /** How many there are, with those that were cancelled or failed. */
  placed: number
  /** Those that were paid for and not refunded. */
  kept: Purchase[]
  paidMinor: number
}

/** Purchases that are alike, of which there are more or fewer in the run with the loss. */
export interface Difference {
  example: Purchase
  expected: Tally
  found: Tally
}

/** What the client and the payee are called may differ from run to run. */
const likeness = ({ client, what, payee, walletId }: Purchase, byName: boolean): string =>
  JSON.stringify(byName ? [what, walletId, client, payee] : [what, walletId])

const tallyOf = (purchases: readonly Purchase[] = []): Tally => ({
  placed: purchases.length,
  kept: purchases.filter(({ paidMinor }) => paidMinor > 0),
  paidMinor: purchases.reduce((sum, { paidMinor }) => plus(sum, paidMinor), 0),
})

export const differencesOf = (
  expected: readonly Purchase[],
  found: readonly Purchase[],
  byName: boolean,
): Difference[] => {
  const keyOf = (purchase: Purchase) => likeness(purchase, byName)
  const [before, after] = [Map.groupBy(expected, keyOf), Map.groupBy(found, keyOf)]
  const examples = new Map([...expected, ...found].map((purchase) => [keyOf(purchase), purchase]))
  return [...examples]
    .map(([key, example]) => ({ example, expected: tallyOf(before.get(key)), found: tallyOf(after.get(key)) }))
    .filter((difference) => isMore(difference) || isLess(difference))
}

/** The same text for the same purchases, whatever their order, ids and times. */
export const summaryOf = (purchases: readonly Purchase[], byName: boolean): string =>
  purchases
    .map((purchase) => `${likeness(purchase, byName)} ${purchase.paidMinor}`)
    .sort()
    .join('\n')

const isMore = ({ expected, found }: Difference): boolean =>
  found.kept.length > expected.kept.length || found.paidMinor > expected.paidMinor

const isLess = ({ expected, found }: Difference): boolean =>
  found.kept.length < expected.kept.length || found.paidMinor < expected.paidMinor

/**
 * What the loss of one response led to:
 * - `too many`: something was bought or paid again;
 * - `too few`: something was not bought or paid, and the command ended as if it had been;
 * - `failed`: the command failed, so that somebody knows, and nothing was done again;
 * - `none`: the command succeeded, and everything was done once.
 */
export type Consequence = 'too many' | 'too few' | 'failed' | 'none'

export const consequenceOf = (differences: readonly Difference[], succeeded: boolean): Consequence => {
  // A command that fails before it cancels an order has not placed it twice.
  const isAgain = (difference: Difference) => succeeded || difference.found.placed > difference.expected.placed
  if (differences.some((difference) => isMore(difference) && isAgain(difference))) return 'too many'
  if (!succeeded) return 'failed'
  return differences.length > 0 ? 'too few' : 'none'
}
