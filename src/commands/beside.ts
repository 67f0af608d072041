import { askThread } from '../kernel/thread.ts'
import statementWorker from './statement-worker.js' with { type: 'text' }

interface StatementBeside {
  /** Of the connection, before the statement. */
  pragmas: readonly string[]
  sql: string
  values?: readonly string[]
}

/** Runs a statement on a database file in another thread. @throws what SQLite says, with its code */
export const runBeside = <Row>(path: string, { values = [], ...statement }: StatementBeside): Promise<Row[]> =>
  askThread<Row[]>(statementWorker, { path, values, ...statement })
