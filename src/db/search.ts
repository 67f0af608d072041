import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { searchForm } from '../kernel/lower-case.ts'

/** Neither texts nor search terms can contain it. */
const SEPARATOR = '\0'

/** The form that searches look in (contract C7). */
export const searchText = (...texts: (string | null)[]): string =>
  searchForm(texts.map((text) => text ?? '').join(SEPARATOR))

export const contains = (text: SQLWrapper): SQL => sql`instr(${text}, ${sql.placeholder('search')})`
