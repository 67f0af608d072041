import { lstatSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Amount, type Cell, Facts, type Row } from '../../acts/cells.ts'
import { DataFault } from '../../db/data-folder.ts'
import type { ExitCode } from '../../kernel/exit.ts'
import type { Result } from '../terminal/output.ts'

/** What a command and the server of its folder say to each other: a line of JSON and the text of a file, then lines of JSON. */

export type Line =
  | { note: string }
  | { progress: [what: string, done: number, total: number] }
  | { result: unknown }
  | { refusal: string; exitCode: ExitCode }
  /** It is not known yet whether the act was done: who asks again learns it. */
  | { isUnknown: true }

type WireCell = Exclude<Cell, Amount | Facts> | Amount['parts'] | { facts: string }
type WireRow = Record<string, WireCell>

const cellToWire = (cell: Cell): WireCell => {
  if (cell instanceof Amount) return cell.parts
  return cell instanceof Facts ? { facts: cell.toString() } : cell
}

const cellOf = (cell: WireCell): Cell => {
  if (typeof cell !== 'object' || cell === null) return cell
  if ('facts' in cell) return new Facts(cell.facts)
  return 'minor' in cell ? new Amount(cell.minor, cell) : cell
}

const mapped = <From, To>(row: Readonly<Record<string, From>>, by: (cell: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, by(cell)]))

export const resultToWire = (result: Result): unknown => {
  if ('pieces' in result) throw new Error('an act answers with a record or a list')
  if (!('rows' in result && 'columns' in result)) return mapped(result as Row, cellToWire)
  const { columns, rows } = result as Extract<Result, { rows: unknown }>
  return { columns, rows: [...rows].map((row) => mapped(row, cellToWire)) }
}

export const resultOf = (wire: unknown): Result => {
  const list = wire as { columns?: string[]; rows?: WireRow[] }
  if (Array.isArray(list.rows) && list.columns) {
    return { columns: list.columns, rows: list.rows.map((row) => mapped(row, cellOf)) }
  }
  return mapped(wire as WireRow, cellOf)
}

const RUN_FOLDER = 'run'

/** Where the server of a folder listens for acts. */
export const socketPath = (dataDir: string): string => join(dataDir, RUN_FOLDER, 'scrip.sock')

export const runFolder = (dataDir: string): string => join(dataDir, RUN_FOLDER)

/** The shortest that a system allows, macOS; Linux allows four more. */
const PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107

export const isTooLong = (path: string): boolean => Buffer.byteLength(path) > PATH_BYTES_MAX

/** Whether a server may listen there: whoever else made it could read what operators ask. @throws DataFault */
export const isSocketThere = (dataDir: string): boolean => {
  const { uid } = statSync(dataDir)
  for (const path of [runFolder(dataDir), socketPath(dataDir)]) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found) return false
    if (found.isSymbolicLink()) throw new DataFault(`${path} is a link\nRemove it.`)
    if (found.uid !== uid && process.platform !== 'win32')
      throw new DataFault(`${path} does not belong to the owner of the folder\nRemove it.`)
    if (path === socketPath(dataDir) && !found.isSocket()) throw new DataFault(`${path} is not a socket\nRemove it.`)
  }
  return true
}
