import { Database } from 'bun:sqlite'

// Runs one check of a database in a thread of its own. A thread gets a program of its own, which is carried as text.
self.onmessage = ({ data: { path, sql } }) => {
  const sqlite = new Database(path, { readwrite: true, create: false })
  try {
    sqlite.run('PRAGMA query_only = ON')
    sqlite.run('PRAGMA trusted_schema = OFF')
    postMessage({
      faults: sqlite
        .query(sql)
        .all()
        .map(({ fault }) => fault),
    })
  } catch ({ message, code }) {
    postMessage({ message, code })
  } finally {
    sqlite.close()
  }
}
