import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { FINAL_SIGMA, fold, SIGMA } from '../kernel/fold.ts'

/** Whether a search is a part of a text, whatever the case. The text is kept in lower case, which is what lists sort by. */
export const holds = (lowerCase: SQLWrapper, search: string): SQL =>
  sql`instr(replace(${lowerCase}, ${FINAL_SIGMA}, ${SIGMA}), ${fold(search)}) > 0`
