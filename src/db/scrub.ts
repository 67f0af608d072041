import type { Database as SqliteDatabase } from 'bun:sqlite'
import { DataFault } from '../kernel/exit.ts'

/**
 * Writes all pages again, because a page that was split keeps copies of rows between its cells, and empties the
 * write-ahead log. A server reads meanwhile, and waits to write.
 * @throws DataFault while another program reads
 */
export const rewriteFile = (sqlite: SqliteDatabase): void => {
  sqlite.run('PRAGMA temp_store = FILE') // otherwise all of it has to fit in memory
  sqlite.run('VACUUM')
  const { busy } = sqlite.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
  if (busy !== 0) throw new DataFault('another program is reading the database, and keeps its old pages\nTry again.')
}
