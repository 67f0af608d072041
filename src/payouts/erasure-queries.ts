import { and, eq, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { rowsById } from '../db/narrowing.ts'
import { holdAny } from '../db/search.ts'
import { type Payout, type PayoutEvent, payoutEvents, payouts } from './tables.ts'

/** Every column that can hold a text of a person. */
const TEXTS = [
  payouts.referenceId,
  payouts.beneficiaryEmail,
  payouts.beneficiaryFirstName,
  payouts.beneficiaryLastName,
  payouts.beneficiaryIdentifiers,
  payouts.description,
  payouts.metadata,
  payouts.failureCode,
  payouts.failureReason,
]

/** Payouts that may hold a text of a person. */
export const payoutsWith = (query: Query, part: string): Iterable<Payout> =>
  rowsById(query, payouts, holdAny(TEXTS, part))

/** Of a saved beneficiary, also of one that was deleted. */
export const payoutsTo = (query: Query, beneficiaryId: string): Iterable<Payout> =>
  rowsById(query, payouts, eq(payouts.beneficiaryId, beneficiaryId))

export type PayoutTexts = Pick<
  Payout,
  | 'referenceId'
  | 'beneficiaryId'
  | 'beneficiaryEmail'
  | 'beneficiaryFirstName'
  | 'beneficiaryLastName'
  | 'beneficiaryCountry'
  | 'beneficiaryPhone'
  | 'beneficiaryIdentifiers'
  | 'description'
  | 'metadata'
  | 'failureCode'
  | 'failureReason'
  | 'searchLowerCase'
>

export const updateTexts = (tx: Tx, { id }: Payout, texts: PayoutTexts): void => {
  tx.update(payouts).set(texts).where(eq(payouts.id, id)).run()
}

/** Events of payouts whose message may hold a text; only those of some payouts, if they are given. */
export const messagesWith = (
  query: Query,
  part: string,
  payoutIds: readonly string[] | undefined,
): Iterable<PayoutEvent> => {
  const { payoutId, message } = payoutEvents
  const isOf = payoutIds && sql`${payoutId} IN (SELECT value FROM json_each(${JSON.stringify(payoutIds)}))`
  return rowsById(query, payoutEvents, and(isOf, holdAny([message], part)))
}

/** The database lets a message become nothing but `erased`. */
export const updateMessage = (tx: Tx, { id }: PayoutEvent, message: string): void => {
  tx.update(payoutEvents).set({ message }).where(eq(payoutEvents.id, id)).run()
}
