import { lstatSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ActResult } from '../../acts/act.ts'
import { Amount, StoredJson } from '../../acts/cells.ts'
import type { ExitCode } from '../../kernel/exit.ts'
import { DataFault } from '../../kernel/exit.ts'

/** The protocol of a command and the server of its folder: a line of JSON and the text of a file, then lines of JSON. */

export type ActMessage =
  | { note: string }
  | { progress: [what: string, done: number, total: number] }
  | { result: ActResult }
  | { refusal: string; exitCode: ExitCode }
  /** It is not known yet whether the act was done. The command asks again. */
  | { isUnknown: true }

/** As JSON, in which amounts and stored JSON can be told from other cells. */
export const messageText = (line: ActMessage): string => {
  const replace = function (this: Record<string, unknown>, name: string, value: unknown): unknown {
    const cell = this[name] // an amount has been turned into a number in the value
    if (cell instanceof Amount) return cell.parts
    return cell instanceof StoredJson ? { storedJson: cell.toString() } : value
  }
  return `${JSON.stringify(line, replace)}\n`
}

export const messageOf = (text: string): ActMessage =>
  JSON.parse(text, (_, value: object | null): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if ('storedJson' in value) return new StoredJson(String(value.storedJson))
    return 'minor' in value ? amountOf(value as Amount['parts']) : value
  })

const amountOf = (parts: Amount['parts']): Amount => new Amount(parts.minor, parts)

/** The lines of a response. The work continues even if nobody reads them. */
export const linesOf = <Line>(
  textOf: (line: Line) => string,
  work: (send: (line: Line) => void) => Promise<void>,
): ReadableStream<string> =>
  new ReadableStream<string>({
    start: async (controller) => {
      await work((line) => {
        try {
          controller.enqueue(textOf(line))
        } catch {}
      })
      try {
        controller.close()
      } catch {}
    },
  })

const RUN_FOLDER = 'run'

/** The socket at which the server of a folder listens for acts. */
export const socketPath = (dataDir: string): string => join(runFolder(dataDir), 'scrip.sock')

/** By the real path of the data folder: server and commands may name it in different ways, of which one is too long for a socket. */
export const runFolder = (dataDir: string): string => join(realpathSync(dataDir), RUN_FOLDER)

/** The shortest that a system allows, macOS; Linux allows four more. */
const PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107

export const isTooLong = (path: string): boolean => Buffer.byteLength(path) > PATH_BYTES_MAX

/** True if the socket exists. Another user who made it could read the requests of operators. @throws DataFault in that case */
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
