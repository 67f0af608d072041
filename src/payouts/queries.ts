import { and, asc, eq, inArray, isNotNull, or, sql } from 'drizzle-orm'
import type { Query } from '../db/database.ts'
import { contains, counted, List, searchText } from '../db/lists.ts'
import { type Narrowing, narrowedRows, type Rows, searched } from '../db/narrowing.ts'
import type { Personal } from '../db/personal.ts'
import {
  isGiven,
  isOneLiteral,
  isOneOf,
  preparedAll,
  preparedDue,
  preparedFind,
  preparedInsert,
  preparedOne,
  preparedUpdate,
} from '../db/prepared.ts'
import { OPEN_PAYOUTS } from './states.ts'
import { type Payout, type PayoutEvent, type PayoutStatus, payoutEvents, payouts } from './tables.ts'

export { PAYOUT_STATUSES, type Payout, type PayoutEvent, type PayoutStatus } from './tables.ts'

/** The columns that transitions change, with the values of a new payout. */
export const BEGINNING = {
  status: 'created',
  failureCode: null,
  failureReason: null,
  returned: false,
  dueAtMs: null,
  dueEvent: null,
  queuedAtMs: null,
  submittedAtMs: null,
  completedAtMs: null,
  failedAtMs: null,
  cancelledAtMs: null,
} as const satisfies Partial<Payout>
type Changing = keyof typeof BEGINNING

export const findPayout = preparedFind(payouts)

export const findAnyPayout = (query: Query, id: string): Payout | undefined =>
  query.select().from(payouts).where(eq(payouts.id, id)).limit(1).get()

const ofReference = preparedOne(
  payouts,
  and(eq(payouts.clientId, sql.placeholder('clientId')), eq(payouts.referenceId, sql.placeholder('referenceId'))),
)

export const isReferenceTaken = (query: Query, clientId: number, referenceId: string): boolean =>
  ofReference(query, { clientId, referenceId }) !== undefined

/** No currency has more decimals, so amounts in these units compare across currencies. */
export const RANK_DECIMALS = 4

/** The payouts of a list. Their ids sort by creation. */
export const payoutsOf = (query: Query, narrowing: Narrowing): Rows<Payout> => narrowedRows(query, LISTED, narrowing)

const LISTED = {
  table: payouts,
  clientId: payouts.clientId,
  status: payouts.status,
  atMs: payouts.createdAtMs,
  texts: [payouts.id, payouts.searchLowerCase],
  isAmount: (major: number) => eq(payouts.amountRank, Math.round(major * 10 ** RANK_DECIMALS)),
  counts: 'payout_counts',
  summed: { currencyId: payouts.currencyId, amounts: { sum: payouts.amountMinor } },
  indexes: {
    ...{ client: 'payouts_client', status: 'payouts_status', time: 'payouts_created' },
    ...{ texts: 'payouts_client', amount: 'payouts_amount' },
  },
} as const

/** The payouts of all clients that have one of the names as their id or as their reference. */
export const payoutsNamed = (query: Query, names: readonly string[]): Payout[] => {
  const ofReference = and(sql`${payouts.clientId} IN (SELECT id FROM clients)`, isOneOf(payouts.referenceId, names))
  return query
    .select()
    .from(payouts)
    .where(or(isOneOf(payouts.id, names), ofReference))
    .all()
}

const byPayout = preparedAll(payoutEvents, isGiven(payoutEvents.payoutId, 'payoutId'), asc(payoutEvents.id))

/** The payouts that the clock may move, the oldest first. */
export const movingPayouts = (query: Query, statuses: readonly PayoutStatus[]): Payout[] =>
  query
    .select()
    .from(payouts)
    .where(or(inArray(payouts.status, [...statuses]), isNotNull(payouts.dueAtMs)))
    .orderBy(asc(payouts.createdAtMs), asc(payouts.id))
    .all()

/** In the words of the index payouts_open. */
const isOpen = isOneLiteral(payouts.status, OPEN_PAYOUTS)

/** The payouts of a list that wait for the clock or an operator. */
export const waitingPayouts = (query: Query, narrowing: Narrowing): Rows<Payout> =>
  narrowedRows(query, LISTED, narrowing, {
    ...{ matches: isOpen, isCounted: true },
    ...(narrowing.clientId === undefined ? { index: 'payouts_open' } : { rareIndex: 'payouts_status' }),
  })

export const eventsOf = (query: Query, payoutId: string): PayoutEvent[] => byPayout(query, { payoutId })

export const { findFirstDue, countDue, nextDue: nextDuePayouts } = preparedDue(payouts)

export const insertPayout = preparedInsert(payouts)

export const updatePayout = preparedUpdate(payouts, Object.keys(BEGINNING) as Changing[])

export const insertEvent = preparedInsert(payoutEvents)

/** Sort fields and the columns that they compare (contract C13). Ids sort by creation. */
const SORTS = {
  created_at: { columns: [], index: 'payouts_client' },
  amount: { columns: [payouts.amountRank], index: 'payouts_amount' },
  status: { columns: [payouts.status], index: 'payouts_status' },
}

export const PAYOUT_SORTS = Object.keys(SORTS) as (keyof typeof SORTS)[]

/** The columns that no client sees. */
const UNSHOWN = [
  ...(['clientId', 'amountRank', 'searchLowerCase', 'returned', 'dueAtMs', 'dueEvent'] as const),
  ...(['sourceRateE8', 'destinationRateE8', 'paidMinor', 'paidAmountMinor', 'paidConversionMinor'] as const),
  ...(['beneficiaryTotalMinor', 'beneficiaryIdentifiers'] as const),
]
export type ShownPayout = Omit<Payout, (typeof UNSHOWN)[number]>

export const payoutList = new List({
  table: payouts,
  unshown: UNSHOWN,
  counts: 'payout_counts',
  filters: {
    status: { ...counted(payouts.status, 'payouts_status'), hasSearch: true },
    currencyId: { ...counted(payouts.currencyId, 'payouts_currency'), hasSearch: true },
    search: { matches: contains(payouts.searchLowerCase) },
  },
  sorts: SORTS,
})

/** The columns that can hold a text of a person. */
export const PAYOUT_TEXTS = {
  table: payouts,
  texts: [
    'referenceId',
    'beneficiaryEmail',
    'beneficiaryFirstName',
    'beneficiaryLastName',
    'description',
    'failureCode',
    'failureReason',
  ],
  json: ['beneficiaryIdentifiers', 'metadata'],
  search: ({ referenceId, beneficiaryEmail }) => ({ searchLowerCase: searchText(referenceId, beneficiaryEmail) }),
} as const satisfies Personal<typeof payouts>

/** The database allows only one change of a message, to `erased`. */
export const MESSAGE_TEXTS = {
  table: payoutEvents,
  texts: ['message'],
  record: payoutEvents.payoutId,
} as const satisfies Personal<typeof payoutEvents>

/** The payouts to a saved beneficiary, even to a deleted one. */
export const payoutsTo = (query: Query, beneficiaryId: string): AsyncIterable<Payout> =>
  searched(query, payouts, eq(payouts.beneficiaryId, beneficiaryId))
