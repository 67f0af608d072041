import { Database as SqliteDatabase } from 'bun:sqlite'
import { flushWhile } from '../folder/disk.ts'
import { makePrivateFile } from '../folder/files.ts'
import { DataFault } from '../kernel/exit.ts'
import { BUSY_TIMEOUT_MS } from './connections.ts'
import { removePosition } from './copy-position.ts'
import statementWorker from './statement-worker.js' with { type: 'text' }

interface StatementBeside {
  /** The pragmas of the connection, which run before the statement. */
  pragmas?: readonly string[]
  sql: string
  values?: readonly string[]
}

type Message<Row> = { rows: Row[] } | { message: string; code?: string }

/** Runs a statement on a database file in another thread. @throws the error of SQLite, with its code */
const runBeside = <Row>(path: string, { sql, pragmas = [], values = [] }: StatementBeside): Promise<Row[]> => {
  const url = URL.createObjectURL(new Blob([statementWorker], { type: 'text/javascript' }))
  const thread = new Worker(url)
  const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
  thread.onerror = ({ message }) => reject(new Error(message))
  thread.onmessage = ({ data }: MessageEvent<Message<Row>>) => {
    if ('rows' in data) resolve(data.rows)
    else reject(Object.assign(new Error(data.message), data.code && { code: data.code }))
  }
  thread.postMessage({ path, sql, pragmas: [`busy_timeout = ${BUSY_TIMEOUT_MS}`, ...pragmas], values })
  return promise.finally(() => {
    thread.terminate()
    URL.revokeObjectURL(url)
  })
}

/**
 * Copies a database into a new file while others write, and syncs the copy to the disk in steps.
 *
 * @throws the error of SQLite
 */
export const copyDatabase = async (path: string, copy: string, onFlushed?: (bytes: number) => void): Promise<void> => {
  makePrivateFile(copy)
  await flushWhile(copy, runBeside(path, { sql: 'VACUUM INTO ?', values: [copy] }), onFlushed)
}

/** {@link rewriteFile} in another thread: others read meanwhile, and nobody writes. Temporary files are where this process has them. @throws DataFault while another program reads */
export const rewriteBeside = async (path: string): Promise<void> => {
  await runBeside(path, { pragmas: ['secure_delete = ON'], sql: 'VACUUM' })
  const [result] = await runBeside<{ busy: number }>(path, { sql: 'PRAGMA wal_checkpoint(TRUNCATE)' })
  if (result?.busy !== 0)
    throw new DataFault('another program is reading the database, and keeps its old pages\nTry again.')
}

/**
 * Makes a backup of a copy an independent database, with which an operator can return to one machine
 * (contract C18).
 */
export const ownDatabase = (path: string): void => {
  using sqlite = new SqliteDatabase(path, { readwrite: true, create: false })
  removePosition(sqlite)
}
