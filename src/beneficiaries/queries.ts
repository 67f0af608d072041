import { and, eq, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { contains, List, searchText } from '../db/lists.ts'
import { isOfAnyClient, type Narrowing, narrowedRows, type Rows } from '../db/narrowing.ts'
import { type Personal, rowsHolding } from '../db/personal.ts'
import { preparedFind, preparedInsert } from '../db/prepared.ts'
import { lowerCase } from '../kernel/lower-case.ts'
import { type Beneficiary, beneficiaries } from './tables.ts'

export type { Beneficiary }

export const findBeneficiary = preparedFind(beneficiaries)

export const findAnyBeneficiary = (query: Query, id: string): Beneficiary | undefined =>
  query.select().from(beneficiaries).where(eq(beneficiaries.id, id)).limit(1).get()

/** The beneficiaries of a list. Their ids sort by creation. An e-mail address matches in upper or lower case. */
export const beneficiariesOf = (query: Query, narrowing: Narrowing, email?: string): Rows<Beneficiary> => {
  const matches =
    email === undefined ? undefined : and(isOfAnyClient, eq(beneficiaries.emailLowerCase, lowerCase(email)))
  return narrowedRows(query, LISTED, narrowing, { matches, ...(matches && { index: 'beneficiaries_email' }) })
}

const LISTED = {
  table: beneficiaries,
  clientId: beneficiaries.clientId,
  atMs: beneficiaries.createdAtMs,
  texts: [beneficiaries.id, beneficiaries.searchLowerCase],
  counts: 'beneficiary_counts',
  indexes: { client: 'beneficiaries_client', time: 'beneficiaries_created', texts: 'beneficiaries_client' },
} as const

/** The forms of a beneficiary's texts that lists compare. */
export const comparedTexts = ({
  email,
  firstName,
  lastName,
}: Pick<Beneficiary, 'email' | 'firstName' | 'lastName'>) => ({
  emailLowerCase: lowerCase(email),
  firstNameLowerCase: lowerCase(firstName),
  lastNameLowerCase: lowerCase(lastName),
  searchLowerCase: searchText(email, `${firstName} ${lastName}`),
})

export const insertBeneficiary = preparedInsert(beneficiaries)

/** Deletes a beneficiary, of which payouts keep a copy. Undefined if it does not exist. */
export const deleteBeneficiary = (tx: Tx, clientId: number, id: string): { id: string } | undefined =>
  tx.delete(beneficiaries).where(ownedBy(clientId, id)).returning({ id: beneficiaries.id }).get()

/** Adds a completed payout. The amount is in the currency of the client's default wallet (contract C10). */
export const recordPayout = (
  tx: Tx,
  clientId: number,
  payout: { beneficiaryId: string; amountMinor: number; completedAtMs: number },
): void => {
  tx.update(beneficiaries)
    .set({
      totalPayouts: sql`${beneficiaries.totalPayouts} + 1`,
      totalAmountMinor: sql`${beneficiaries.totalAmountMinor} + ${payout.amountMinor}`,
      lastPayoutAtMs: payout.completedAtMs,
    })
    .where(ownedBy(clientId, payout.beneficiaryId))
    .run()
}

const ownedBy = (clientId: number, id: string) => and(eq(beneficiaries.id, id), eq(beneficiaries.clientId, clientId))

/** The sort orders and their columns (contract C7). Ids sort by creation. */
const SORTS = {
  created_at: { columns: [], index: 'beneficiaries_client' },
  email: { columns: [beneficiaries.emailLowerCase, beneficiaries.email], index: 'beneficiaries_email' },
  first_name: {
    columns: [beneficiaries.firstNameLowerCase, beneficiaries.firstName],
    index: 'beneficiaries_first_name',
  },
  last_name: {
    columns: [beneficiaries.lastNameLowerCase, beneficiaries.lastName],
    index: 'beneficiaries_last_name',
  },
  country: { columns: [beneficiaries.country], index: 'beneficiaries_country' },
  total_payouts: { columns: [beneficiaries.totalPayouts], index: 'beneficiaries_payouts' },
  total_amount: { columns: [beneficiaries.totalAmountMinor], index: 'beneficiaries_amount' },
  last_payout_at: { columns: [beneficiaries.lastPayoutAtMs], index: 'beneficiaries_last_payout' },
}

export const BENEFICIARY_SORTS = Object.keys(SORTS) as (keyof typeof SORTS)[]

export const beneficiaryList = new List({
  table: beneficiaries,
  counts: 'beneficiary_counts',
  filters: { search: { matches: contains(beneficiaries.searchLowerCase) } },
  sorts: SORTS,
})

/** The columns that can hold a text of a person. The person's own row is deleted. */
export const BENEFICIARY_TEXTS = {
  table: beneficiaries,
  texts: ['firstName', 'lastName'],
  json: ['metadata'],
  search: comparedTexts,
} as const satisfies Personal<typeof beneficiaries>

/** The beneficiaries of all clients with an e-mail address that may hold a part. */
export const beneficiariesAt = (query: Query, part: string): AsyncIterable<Beneficiary> =>
  rowsHolding(query, { table: beneficiaries, texts: ['email'] }, part)

export const deleteAnyBeneficiary = (tx: Tx, id: string): void => {
  tx.delete(beneficiaries).where(eq(beneficiaries.id, id)).run()
}
