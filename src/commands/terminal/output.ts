import { once } from 'node:events'
import type { List, Row } from '../../acts/cells.ts'
import { visibleLines } from '../../kernel/visible.ts'
import { csvOf } from './csv.ts'
import { recordOf, tableOf } from './table.ts'

/** Text that a command prints as it is. */
interface Page {
  pieces: Iterable<string>
}

export type Result = Row | List | Page
type Format = 'text' | 'json' | 'csv'

const PIECE_LENGTH = 16_384

/** Prints a result piece by piece, as fast as its reader reads. */
export const show = async (result: Result, format: Format): Promise<void> => {
  let waiting = ''
  const print = async () => {
    const text = waiting
    waiting = ''
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }
  try {
    for (const piece of piecesOf(result, format)) {
      waiting += piece
      if (waiting.length >= PIECE_LENGTH) await print()
    }
    await print()
  } catch (error) {
    // A reader such as `head` may stop when it has enough.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error
  }
}

function* piecesOf(result: Result, format: Format): Generator<string> {
  if (isPage(result)) yield* result.pieces
  else if (!isList(result)) yield format === 'json' ? `${jsonOf(result)}\n` : recordOf(result)
  else if (format !== 'json') yield* (format === 'csv' ? csvOf : tableOf)(result)
  else {
    yield* jsonList(result.rows)
    yield '\n'
  }
}

const isPage = (result: Result): result is Page => 'pieces' in result
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
