import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { lowerCase } from '../kernel/lower-case.ts'

/** Neither texts nor search terms can contain it. */
const SEPARATOR = '\0'

/** The form that searches look in (contract C7). */
export const searchText = (...texts: (string | null)[]): string =>
  lowerCase(texts.map((text) => text ?? '').join(SEPARATOR))

export const contains = (text: SQLWrapper): SQL => sql`instr(${text}, ${sql.placeholder('search')})`

/** Whether one of some texts holds another, which is in lower case and ASCII. */
export const holdAny = (texts: readonly SQLiteColumn[], part: string): SQL =>
  sql`(${sql.join(
    texts.map((text) => sql`instr(lower(${text}), ${part}) > 0`),
    sql` OR `,
  )})`
