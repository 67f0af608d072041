import { and, count, eq, gt, max, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { type Narrowing, narrowed, rowsById } from '../db/narrowing.ts'
import { type AuditRow, audit, auditHead, auditKeys } from './tables.ts'

export { type AuditRow, OUTCOMES } from './tables.ts'

/** The oldest first. */
export const auditRows = (query: Query, narrowing: Narrowing = {}): Iterable<AuditRow> =>
  rowsById(query, audit, narrowed({ status: audit.outcome, atMs: audit.atMs }, narrowing), narrowing.limit)

/** When something was last done, in Unix milliseconds. */
export const lastDoneMs = (query: Query, command: string): number | null =>
  query
    .select({ atMs: max(audit.atMs) })
    .from(audit)
    .where(and(eq(audit.command, command), eq(audit.outcome, 'done')))
    .get()?.atMs ?? null

/** How often something was refused since it was last done. */
export const refusedSinceDone = (query: Query, command: string): number => {
  const done = query
    .select({ id: sql<number>`coalesce(max(${audit.id}), 0)` })
    .from(audit)
    .where(and(eq(audit.command, command), eq(audit.outcome, 'done')))
  const refused = and(eq(audit.command, command), eq(audit.outcome, 'refused'), gt(audit.id, sql`(${done})`))
  return query.select({ refused: count() }).from(audit).where(refused).get()?.refused ?? 0
}

export const getHead = (query: Query): { count: number; hash: string } => {
  const head = query.select().from(auditHead).limit(1).get()
  if (!head) throw new Error('the audit has no head')
  return head
}

export const findAuditRow = (query: Query, id: number): AuditRow | undefined =>
  query.select().from(audit).where(eq(audit.id, id)).get()

export const storedKeys = (query: Query): { mark: string; sealed: Buffer }[] => query.select().from(auditKeys).all()

export const storeKey = (tx: Tx, mark: string, sealed: Buffer): void =>
  void tx
    .insert(auditKeys)
    .values({ mark, sealed })
    .onConflictDoUpdate({ target: auditKeys.mark, set: { sealed } })
    .run()

export const insertAuditRow = (tx: Tx, row: AuditRow): void => {
  tx.insert(audit).values(row).run()
  tx.update(auditHead).set({ count: row.id, hash: row.hash }).run()
}
