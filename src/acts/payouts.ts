import { Text } from '../http/validation.ts'
import { transitionRefused, violation } from '../kernel/failure.ts'
import { payoutsIn, readAs } from '../payouts/bank-list.ts'
import { cancelPayout } from '../payouts/payouts.ts'
import { advance, applyEvent, type EventDetails } from '../payouts/progress.ts'
import { findAnyPayout, PAYOUT_STATUSES, type Payout, payoutsOf } from '../payouts/queries.ts'
import { ADVANCE_TARGETS, actsOfPayout } from '../payouts/states.ts'
import type { Among, StepContext } from './act.ts'
import type { Administration } from './administration.ts'
import { CLIENT } from './clients.ts'
import { choiceOf, field, type Input } from './fields.ts'
import { get, type Kind, listing, members, type Noun, type Shown, showing, step } from './kind.ts'

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

const LISTED = {
  column: field('--column <name>', 'the column of a CSV file that has the references', {
    label: 'Column of the reference',
  }),
  amount_column: field('--amount-column <name>', 'the column whose amount has to be that of the payout', {
    label: 'Column of the amount',
  }),
  client: field('--client <name>', 'only payouts of this client are named'),
}

/** The payouts that a file names. @throws ProgramError */
export const readPaid = (
  { query, reference }: Pick<Administration, 'query' | 'reference'>,
  text: string,
  {
    to,
    column,
    amount_column: amountColumn,
    client,
  }: Partial<Input<typeof LISTED>> & { to?: Payout['status'] | undefined },
) =>
  payoutsIn(query, text, reference, {
    to,
    column,
    amountColumn,
    clientId: client === undefined ? undefined : get(CLIENT, query, client).id,
  })

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
      'Mark as paid',
      'Advance a payout by one step, or to a status',
      {
        to: field('--to <status>', 'the status to reach', {
          label: 'Status',
          preset: 'completed',
          ...choiceOf(ADVANCE_TARGETS),
        }),
      },
      (tx, payout, { to }, data) => advance(tx, data.paying, data.world, payout, to, byOperator(data)),
      {
        route: 'POST /payouts/{id}/advance',
        id: 'advancePayout',
        names: 'payout_advance.',
        description: 'Passes through every status on the way, each with its event and its ledger entries.',
        title: 'AdvanceRequest',
        bodyExample: { to: 'settling' },
        endsWith: { status: 'settling' },
        wrong: violation('to', 'enum', `must be one of ${ADVANCE_TARGETS.join(', ')}`),
        refuses: { transition_refused: transitionRefused('completed', 'settling') },
      },
    ),
    among: {
      takes: LISTED,
      read: (data, text, input) => {
        const named = readPaid(data, text, input)
        const { payouts, column, left, unknown } = named
        const isWhole = column !== undefined || unknown.length === 0
        return { ids: payouts.map(({ id }) => id), sentences: readAs(named), left, isWhole }
      },
    } satisfies Among,
  },
  fail: step(
    PAYOUT,
    'Mark as failed',
    'Fail a payout that is processing or settling',
    {
      failure_code: field('--code <code>', 'failure_code shown to the client', text(100)),
      failure_reason: field('--reason <text>', 'failure_reason shown to the client', text(1_000)),
    },
    (tx, payout, { failure_code: failureCode, failure_reason: failureReason }, data) =>
      applyEvent(tx, data.paying, data.world, payout, 'failed', { ...byOperator(data), failureCode, failureReason }),
    {
      route: 'POST /payouts/{id}/fail',
      id: 'failPayout',
      names: 'payout_fail.',
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
    'Cancel payout',
    'Cancel a payout that is not submitted yet; the client is refunded amount and fees',
    {},
    (tx, payout, _, { paying, world }) => cancelPayout(tx, paying, world, payout, 'operator'),
  ),
  return: step(
    PAYOUT,
    'Mark as returned',
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
      id: 'returnPayout',
      names: 'payout_return.',
      description: 'The wallet is credited with the amount, without the fees. Earlier events stay as they are.',
      title: 'PayoutReturnRequest',
      bodyExample: { failure_reason: 'The account was closed' },
      endsWith: { status: 'completed' },
      wrong: violation('failure_reason', 'min', 'must be at least 1 character long'),
      refuses: { transition_refused: transitionRefused('created', 'returned') },
    },
  ),
} satisfies Noun
