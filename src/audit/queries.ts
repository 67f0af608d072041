import { and, count, desc, eq, gt, isNotNull, sql } from 'drizzle-orm'
import type { Query, Tx } from '../db/database.ts'
import { type Narrowing, narrowedRows, type Rows, rowsById } from '../db/narrowing.ts'
import { type AuditRow, audit, auditHead, auditKeys } from './tables.ts'

export { type AuditRow, OUTCOMES } from './tables.ts'

interface Done {
  /** A person, also one who became another user by sudo: `root by ada`. */
  user?: string | undefined
  /** A command, or the group of it. */
  command?: string | undefined
}

export const auditRows = (query: Query, narrowing: Narrowing = {}, done: Done = {}): Rows<AuditRow> => {
  // The counts name all users and commands: an index leads to the rows of those that match.
  const ofUser =
    done.user === undefined
      ? undefined
      : sql`${user} IN (SELECT user FROM audit_counts WHERE instr(' by ' || user || ' by ', ${` by ${done.user} by `}) > 0)`
  const ofCommand =
    done.command === undefined
      ? undefined
      : sql`${command} IN (SELECT command FROM audit_counts WHERE instr(command || ' ', ${`${done.command} `}) = 1)`
  const matches = and(ofUser, ofCommand)
  const rareIndex = ofUser ? 'audit_user' : 'audit_command'
  return narrowedRows(query, LISTED, narrowing, { matches, isCounted: true, ...(matches && { rareIndex }) })
}

const { outcome, atMs, user, command, subject, before, after, act } = audit
const LISTED = {
  table: audit,
  status: outcome,
  atMs,
  texts: [user, command, subject, before, after, act],
  counts: 'audit_counts',
  indexes: { status: 'audit_outcome', time: 'audit_time' },
} as const

/** The products that were edited since the last import of a catalog. */
export const productsEdited = (query: Query): ReadonlySet<number> => {
  const ids = new Set<number>()
  for (const { command, subject, outcome } of auditRows(query, { newestFirst: true }, { command: 'catalog' })) {
    if (outcome !== 'done') continue
    if (command === 'catalog import') break
    if (command === 'catalog edit') ids.add(Number.parseInt(subject, 10))
  }
  return ids
}

export const findAuditRow = (query: Query, id: number): AuditRow | undefined =>
  query.select().from(audit).where(eq(audit.id, id)).limit(1).get()

/** The acts of a group of commands on a subject after a row of the audit, oldest first. */
export const actsAbout = (query: Query, group: string, subject: string, afterId = 0): Rows<AuditRow> => {
  const isAbout = sql`(${audit.subject} = ${subject} OR instr(${audit.subject}, ${`${subject} `}) = 1)`
  return rowsById(
    query,
    audit,
    and(gt(audit.id, afterId), eq(audit.outcome, 'done'), sql`instr(${audit.command}, ${`${group} `}) = 1`, isAbout),
  )
}

/** True if some row has the name of a key. */
export const hasKeyedRow = (query: Query): boolean =>
  query.select({ id: audit.id }).from(audit).where(isNotNull(audit.keyMark)).limit(1).get() !== undefined

/** The row of an act, by the id with which a command has asked for it. */
export const findAct = (query: Query, act: string): AuditRow | undefined =>
  query.select().from(audit).where(eq(audit.act, act)).limit(1).get()

/** The time at which a command was last done, in Unix milliseconds. */
export const lastDoneMs = (query: Query, command: string): number | null =>
  query
    .select({ atMs: audit.atMs })
    .from(audit)
    .where(and(eq(audit.command, command), eq(audit.outcome, 'done')))
    .orderBy(desc(audit.id))
    .limit(1)
    .get()?.atMs ?? null

export const refusedSinceDone = (query: Query, command: string): number => {
  const done = query
    .select({ id: sql<number>`coalesce(max(${audit.id}), 0)` })
    .from(audit)
    .where(and(eq(audit.command, command), eq(audit.outcome, 'done')))
  const refused = and(eq(audit.command, command), eq(audit.outcome, 'refused'), gt(audit.id, sql`(${done})`))
  return query.select({ refused: count() }).from(audit).where(refused).get()?.refused ?? 0
}

export type Head = Omit<typeof auditHead.$inferSelect, 'id'>

export const findHead = (query: Query): Head | undefined => query.select().from(auditHead).limit(1).get()

export const getHead = (query: Query): Head => {
  const head = findHead(query)
  if (!head) throw new Error('the audit has no head')
  return head
}

export const putHead = (tx: Tx, { count, hash, seal }: Head): void =>
  void tx.update(auditHead).set({ count, hash, seal }).run()

export const storedKeys = (query: Query): { mark: string; sealed: Buffer }[] => query.select().from(auditKeys).all()

export const storeKey = (tx: Tx, mark: string, sealed: Buffer): void =>
  void tx
    .insert(auditKeys)
    .values({ mark, sealed })
    .onConflictDoUpdate({ target: auditKeys.mark, set: { sealed } })
    .run()

export const insertAuditRow = (tx: Tx, row: AuditRow): void => void tx.insert(audit).values(row).run()
