import { SECOND_MS } from '../../kernel/clock.ts'
import type { Payout } from '../../payouts/queries.ts'
import { canHappen, type PayoutEventType, type PayoutStep } from '../../payouts/states.ts'

/** Payouts to these payees have a special outcome as the clock moves (contract C15, decision 13). */

/** After the completion, in the pace of the sandbox. */
const RETURNED_AFTER_MS = 10 * SECOND_MS

/** The step instead of the usual one; nothing if the payout stays as it is. */
type Change = (payout: Payout, usual: PayoutStep | undefined) => PayoutStep | undefined

const insteadOfCompletion =
  (event: PayoutEventType): Change =>
  (_, usual) =>
    usual?.event === 'completed' ? { ...usual, event } : usual

const CHANGES = {
  completed: (_, usual) => usual,
  failed: insteadOfCompletion('failed'),
  action_required: insteadOfCompletion('action_required'),
  returned: (payout, usual) =>
    canHappen('returned', payout) ? { event: 'returned', afterMs: RETURNED_AFTER_MS } : usual,
  // It is never processed.
  expired: () => undefined,
} satisfies Record<string, Change>

export const PAYOUT_OUTCOMES = Object.keys(CHANGES) as (keyof typeof CHANGES)[]

/** A domain that nobody can have (RFC 2606). */
export const payeeOf = (outcome: string): string => `${outcome}@payouts.example`

const changesByEmail = new Map<string, Change>(PAYOUT_OUTCOMES.map((outcome) => [payeeOf(outcome), CHANGES[outcome]]))

/** The next step of a payout in the sandbox. */
export const sandboxStep = (payout: Payout, usual: PayoutStep | undefined): PayoutStep | undefined => {
  const change = changesByEmail.get(payout.beneficiaryEmail?.toLowerCase() ?? '')
  return change ? change(payout, usual) : usual
}
