import { Database } from 'bun:sqlite'

// Runs one statement in another thread. The executable carries the program of this thread as text.
self.onmessage = ({ data: { path, pragmas, sql, values } }) => {
  // The file is closed before anybody learns the result: it may be removed then.
  postMessage(resultOf(path, pragmas, sql, values))
}

const resultOf = (path, pragmas, sql, values) => {
  const sqlite = new Database(path, { readwrite: true, create: false })
  try {
    for (const pragma of pragmas) sqlite.run(`PRAGMA ${pragma}`)
    return { rows: sqlite.query(sql).all(...values) }
  } catch ({ message, code }) {
    return { message, code }
  } finally {
    sqlite.close()
  }
}
