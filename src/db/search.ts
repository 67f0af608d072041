import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { FINAL_SIGMA, SIGMA } from '../kernel/fold.ts'

/**
 * Whether what is searched for, folded, is a part of a text. The text is kept in lower case, which is what lists sort by;
 * only a search with a sigma has to look at it in another form.
 */
export const holds = (lowerCase: SQLWrapper, folded: SQLWrapper): SQL =>
  sql`instr(iif(instr(${folded}, ${SIGMA}), replace(${lowerCase}, ${FINAL_SIGMA}, ${SIGMA}), ${lowerCase}), ${folded}) > 0`

/** Stands between texts that are searched together: none of them can hold it, nor can a search. */
export const SEARCH_SEAM = '\0'
