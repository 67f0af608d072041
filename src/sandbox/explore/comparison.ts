import { plus } from '../../kernel/money.ts'
import type { Purchase } from './statement.ts'

/** Equal purchases in one run. */
export interface Tally {
  /** Their number, with those that were cancelled or failed; 0 for beneficiaries, because a deleted one leaves nothing behind. */
  placed: number
  /** Those that were paid for and not refunded, and beneficiaries. */
  kept: Purchase[]
  paidMinor: number
}

/** Equal purchases, of which the run with the fault has more or fewer. */
export interface Difference {
  example: Purchase
  expected: Tally
  found: Tally
}

/** The names of the client and the payee may differ between runs. */
const likeness = ({ client, what, payee, walletId }: Purchase, byName: boolean): string =>
  JSON.stringify(byName ? [what, walletId, client, payee] : [what, walletId])

const isPaid = ({ currency }: Purchase): boolean => currency !== null

const tallyOf = (purchases: readonly Purchase[] = []): Tally => ({
  placed: purchases.filter(isPaid).length,
  kept: purchases.filter((purchase) => purchase.paidMinor > 0 || !isPaid(purchase)),
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

const isMore = ({ expected, found }: Difference): boolean =>
  found.kept.length > expected.kept.length || found.paidMinor > expected.paidMinor

const isLess = ({ expected, found }: Difference): boolean =>
  found.kept.length < expected.kept.length || found.paidMinor < expected.paidMinor

/**
 * The consequence of the fault in a run:
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
