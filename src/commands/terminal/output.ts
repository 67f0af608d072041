import type { List, Row } from '../../acts/cells.ts'
import { refused } from '../../kernel/exit.ts'
import { visible, visibleLines } from '../../kernel/visible.ts'
import { csvOf } from './csv.ts'
import { recordOf, tableOf } from './table.ts'

/** Text that a command prints as it is. */
interface PlainText {
  pieces: Iterable<string>
}

export type Result = Row | List | PlainText
type Format = 'text' | 'json' | 'csv'

const PIECE_LENGTH = 16_384

/**
 * Prints a result piece by piece, as fast as its reader reads.
 * @param done what has been done, for the error of an output that cannot be written
 */
export const show = async (result: Result, format: Format, done?: string): Promise<void> => {
  let waiting = ''
  for (const piece of piecesOf(result, format)) {
    waiting += piece
    if (waiting.length < PIECE_LENGTH) continue
    if (!(await print(waiting, done))) return
    waiting = ''
  }
  await print(waiting, done)
}

/**
 * Writes a text on standard output. Resolves to false if nobody reads it: a reader such as `head` may stop when it has enough.
 * @param done what has been done, which the error says
 * @throws ProgramError if it cannot be written, as on a full disk
 */
export const print = (text: string, done?: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (!error) resolve(true)
      else if (error.code === 'EPIPE') resolve(false)
      else reject(refused([`standard output cannot be written: ${reasonOf(error)}`, done ?? []].flat().join('. ')))
    })
  })

/** `no space left on device`, of the runtime's `ENOSPC: no space left on device, write`. */
const reasonOf = ({ message }: Error): string => message.replace(/^[A-Z]+: |, write$/g, '')

function* piecesOf(result: Result, format: Format): Generator<string> {
  if (isText(result)) yield* result.pieces
  else if (!isList(result)) yield format === 'json' ? `${jsonOf(result)}\n` : recordOf(result)
  else if (format === 'csv') yield* csvOf(result, process.stdout.isTTY ? visible : undefined)
  else if (format === 'text') yield* tableOf(result)
  else {
    yield* jsonList(result.rows)
    yield '\n'
  }
}

const isText = (result: Result): result is PlainText => 'pieces' in result
export const isList = (result: Result): result is List => 'columns' in result && 'rows' in result

/** Prints a notice for people. Scripts get only the result. */
export const note = (text: string, format: Format): void => {
  if (format === 'text') process.stderr.write(`${visibleLines(text)}\n`)
}

/** JSON without control characters, which a terminal would obey. */
export const jsonOf = (value: unknown): string => {
  const json = JSON.stringify(value)
  if (PRINTABLE_ASCII.test(json)) return json
  return json.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const PRINTABLE_ASCII = /^[ -~]*$/

/** An array, an item at a time. */
export function* jsonList(items: Iterable<unknown>): Generator<string> {
  let before = '['
  for (const item of items) {
    yield before + jsonOf(item)
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}
