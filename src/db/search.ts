import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { lowerCase } from '../kernel/lower-case.ts'

/** Separates texts that are searched together: neither they nor a search term can contain it. */
const SEPARATOR = '\0'

/** The text in which a search for any of these looks (contract C7). */
export const searchText = (...texts: (string | null)[]): string =>
  lowerCase(texts.map((text) => text ?? '').join(SEPARATOR))

/** Whether a search text contains the term in the placeholder `search`. */
export const contains = (text: SQLWrapper): SQL => sql`instr(${text}, ${sql.placeholder('search')})`
