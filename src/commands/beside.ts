import statementWorker from './statement-worker.js' with { type: 'text' }

interface StatementBeside {
  /** Of the connection, before the statement. */
  pragmas: readonly string[]
  sql: string
  values?: readonly string[]
}

type Result<Row> = { rows: Row[] } | { message: string; code?: string }

/** Runs a statement on a database file in another thread. @throws what SQLite says, with its code */
export const runBeside = <Row>(path: string, { values = [], ...statement }: StatementBeside): Promise<Row[]> => {
  const worker = new Worker(URL.createObjectURL(new Blob([statementWorker], { type: 'text/javascript' })))
  const rows = new Promise<Row[]>((resolve, reject) => {
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.onmessage = ({ data }: MessageEvent<Result<Row>>) => {
      if ('rows' in data) resolve(data.rows)
      else reject(Object.assign(new Error(data.message), { code: data.code }))
    }
  }).finally(() => worker.terminate())
  worker.postMessage({ path, values, ...statement })
  return rows
}
