import type { Query } from '../db/database.ts'
import { Text } from '../http/validation.ts'
import { transitionRefused, violation } from '../kernel/failure.ts'
import { FileFault } from '../kernel/problems.ts'
import { cancelPayout } from '../payouts/payouts.ts'
import { ADVANCE_TARGETS, advance, applyEvent, type EventDetails } from '../payouts/progress.ts'
import { findAnyPayout, PAYOUT_STATUSES, type Payout, payoutsNamed, payoutsOf } from '../payouts/queries.ts'
import { actsOfPayout } from '../payouts/states.ts'
import type { StepContext } from './act.ts'
import { choiceOf, field } from './fields.ts'
import { type Kind, listing, members, type Noun, type Shown, showing, step } from './kind.ts'

/** `scrip payouts`: an operator advances payouts in live mode (contract C13). */

const PROGRESS: Shown<Payout> = {
  submitted: ({ submittedAtMs }) => submittedAtMs !== null,
  ...members<Payout>('returned'),
}

const COLUMNS: Shown<Payout> = {
  ...members<Payout>('id', 'clientId', 'status', 'amountMinor', 'currencyId'),
  beneficiary: ({ beneficiaryEmail }) => beneficiaryEmail,
  ...members<Payout>('referenceId'),
  ...PROGRESS,
  ...members<Payout>('failureReason', 'createdAtMs'),
  can: actsOfPayout,
}

const DETAILS: Shown<Payout> = {
  ...COLUMNS,
  ...members<Payout>('beneficiaryFirstName', 'beneficiaryLastName', 'beneficiaryCountry', 'beneficiaryPhone'),
  ...members<Payout>('beneficiaryIdentifiers', 'description'),
}

export const PAYOUT: Kind<string, Payout> = {
  name: 'payout',
  group: 'payouts',
  argument: field('<id>', 'the payout'),
  find: findAnyPayout,
  columns: COLUMNS,
  details: DETAILS,
  isMoney: true,
  allows: (payout, verb) => actsOfPayout(payout).includes(verb),
  /** The audit has no names of persons. */
  audited: { ...members<Payout>('status'), ...PROGRESS },
  remedyOf: ({ id, status }) =>
    status === 'completed' ? `scrip payouts return ${id} gives its money back.` : `See scrip payouts show ${id}.`,
}

const byOperator = ({ world }: StepContext): EventDetails => ({ actorType: 'operator', nowMs: world.clock.nowMs() })

const text = (maxLength: number, description?: string) => ({
  schema: Text({ minLength: 1, maxLength, ...(description !== undefined && { description }) }),
})

/** The payouts of a list, such as the bank's: an id or a reference on each line. @throws FileFault */
export const payoutsIn = (query: Query, text: string): Payout[] => {
  const lines = text.split('\n').map((line) => line.trim())
  const found = payoutsNamed(query, lines)
  const [byId, byReference] = [Map.groupBy(found, ({ id }) => id), Map.groupBy(found, ({ referenceId }) => referenceId)]
  const problems: string[] = []
  const payouts = new Set<Payout>()
  for (const [index, name] of lines.entries()) {
    const [payout, other] = byId.get(name) ?? byReference.get(name) ?? []
    if (payout && !other) payouts.add(payout)
    else if (payout) problems.push(`line ${index + 1}: several clients have a payout ${name}: write its id`)
    else if (name !== '') problems.push(`line ${index + 1}: there is no payout ${name}`)
  }
  if (problems.length > 0) throw new FileFault('payouts', problems.slice(0, PROBLEMS_MAX))
  return [...payouts]
}

const PROBLEMS_MAX = 20

const BRIEF = 'id client status amount reference_id created_at'
const NARROWED = {
  brief: BRIEF,
  client: true,
  times: 'created',
  statuses: PAYOUT_STATUSES,
  inSandbox: 'GET /payouts',
} as const

export const payoutActs = {
  list: listing('List the payouts of all clients, newest first', DETAILS, payoutsOf, NARROWED),
  show: showing(PAYOUT, 'Show a payout and its beneficiary'),
  advance: {
    ...step(
      PAYOUT,
      'Advance a payout by one step, or to a status',
      { to: field('--to <status>', 'the status to reach', choiceOf(ADVANCE_TARGETS)) },
      (tx, payout, { to }, data) => advance(tx, data.paying, data.world, payout, to, byOperator(data)),
      {
        route: 'POST /payouts/{id}/advance',
        description: 'Passes through every status on the way, each with its event and its ledger entries.',
        title: 'AdvanceRequest',
        bodyExample: { to: 'settling' },
        endsWith: { status: 'settling' },
        wrong: violation('to', 'enum', `must be one of ${ADVANCE_TARGETS.join(', ')}`),
        refuses: { transition_refused: transitionRefused('completed', 'settling') },
      },
    ),
    among: (query: Query, text: string) => payoutsIn(query, text).map(({ id }) => id),
  },
  fail: step(
    PAYOUT,
    'Fail a payout that is processing or settling',
    {
      failure_code: field('--code <code>', 'failure_code shown to the client', text(100)),
      failure_reason: field('--reason <text>', 'failure_reason shown to the client', text(1_000)),
    },
    (tx, payout, { failure_code: failureCode, failure_reason: failureReason }, data) =>
      applyEvent(tx, data.paying, data.world, payout, 'failed', { ...byOperator(data), failureCode, failureReason }),
    {
      route: 'POST /payouts/{id}/fail',
      description: 'The money is refunded to the wallet, as when a bank refuses the payout.',
      title: 'PayoutFailureRequest',
      bodyExample: { failure_code: 'account_closed' },
      endsWith: { status: 'failed' },
      wrong: violation('failure_code', 'min', 'must be at least 1 character long'),
      refuses: { transition_refused: transitionRefused('completed', 'failed') },
    },
  ),
  cancel: step(
    PAYOUT,
    'Cancel a payout that is not submitted yet; the client is refunded amount and fees',
    {},
    (tx, payout, _, { paying, world }) => cancelPayout(tx, paying, world, payout, 'operator'),
  ),
  return: step(
    PAYOUT,
    'Return a completed payout',
    {
      failure_code: field('--code <code>', 'comes before the reason', text(100, 'Comes before the reason')),
      failure_reason: field('--reason <text>', 'message of the event', text(1_000, 'The message of the event')),
    },
    (tx, payout, { failure_code: code, failure_reason: reason }, data) => {
      const message = [code, reason].filter((part) => part !== undefined).join(': ') || undefined
      return applyEvent(tx, data.paying, data.world, payout, 'returned', { ...byOperator(data), message })
    },
    {
      route: 'POST /payouts/{id}/return',
      description: 'The wallet is credited with the amount, without the fees. Earlier events stay as they are.',
      title: 'PayoutReturnRequest',
      bodyExample: { failure_reason: 'The account was closed' },
      endsWith: { status: 'completed' },
      wrong: violation('failure_reason', 'min', 'must be at least 1 character long'),
      refuses: { transition_refused: transitionRefused('created', 'returned') },
    },
  ),
} satisfies Noun
