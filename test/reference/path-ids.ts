import { createHash } from 'node:crypto'

/** The largest possible identifier: well formed, and unused. */
export const UNKNOWN_ID = 2_147_483_647

/** One line for each record, and their digest. Records may be added, and never renumbered. */
export const digestOf = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex')
