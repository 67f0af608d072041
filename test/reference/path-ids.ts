import { createHash } from 'node:crypto'

/** The largest identifier that there can be: well formed, and nobody's. */
export const UNKNOWN_ID = 2_147_483_647

/** One line for each record, and their digest: what may be added to, and never renumbered. */
export const digestOf = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex')
