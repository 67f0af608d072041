import { Database as SqliteDatabase } from 'bun:sqlite'
import { copyBeside } from './disk.ts'
import { tryLater } from './storage.ts'

/**
 * Copies the file of a database beside the thread that serves requests. Writes go on meanwhile: they stay in the write-ahead
 * log, because no checkpoint overwrites what a reader may still read.
 *
 * @throws DomainError unavailable while another process reads
 */
export const copyServed = async (sqlite: SqliteDatabase, path: string): Promise<void> => {
  const { busy } = sqlite.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
  if (busy !== 0) throw tryLater()
  using reader = new SqliteDatabase(sqlite.filename, { readwrite: true, create: false })
  reader.run('BEGIN')
  reader.run('PRAGMA user_version') // the first statement begins to read; this one needs no schema
  await copyBeside(sqlite.filename, path)
}
