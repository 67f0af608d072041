import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { FINAL_SIGMA, SIGMA } from '../kernel/lower-case.ts'

/**
 * Whether a lower-case text contains a search term (contract C7). Stored texts keep the final sigma, because lists sort
 * by them; only a term with a sigma has to replace it.
 */
export const contains = (text: SQLWrapper, term: SQLWrapper): SQL =>
  sql`instr(iif(instr(${term}, ${SIGMA}), replace(${text}, ${FINAL_SIGMA}, ${SIGMA}), ${text}), ${term}) > 0`

/** Separates texts that are searched together: neither they nor a search term can contain it. */
export const SEARCH_SEPARATOR = '\0'
