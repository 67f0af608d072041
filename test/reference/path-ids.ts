import { createHash } from 'node:crypto'

/** Path segments that are no identifier (contract C4), and how each is told in the name of a test. */
export const INVALID_IDS = [
  ['zero', '0'],
  ['a negative number', '-1'],
  ['a leading zero', '01'],
  ['a fraction', '1.5'],
  ['a whole number written as a fraction', '1.0'],
  ['an exponent', '1e3'],
  ['hexadecimal', '0x1'],
  ['a space', '%20'],
  ['a digit after a space', '%201'],
  ['a digit before a line break', '1%0A'],
  ['a plus sign', '+1'],
  ['one above 2147483647', '2147483648'],
  ['one beyond every number', '9'.repeat(400)],
  ['letters', 'abc'],
  ['the word NaN', 'NaN'],
  ['digits of another script', '%D9%A1'],
  ['NUL', '%00'],
  ['half an escape', '1%'],
] as const

/** The largest identifier that there can be: well formed, and nobody's. */
export const UNKNOWN_ID = 2_147_483_647

/** One line for each record, and their digest: what may be added to, and never renumbered. */
export const digestOf = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex')
