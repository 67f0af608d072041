import type { Database as SqliteDatabase } from 'bun:sqlite'
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DataFault, databasePath } from './data-folder.ts'
import { STAGING_PREFIX } from './disk.ts'
import { isSqlite } from './image.ts'

/** Leaves nothing of what was deleted in the files of a data folder (contract C17, decision 68). */

/** Other databases in a data folder: what `restore` has set aside, backups, and what a command that was killed has left. */
export const copiesIn = (dataDir: string): string[] => {
  const database = databasePath(dataDir)
  const name = basename(database)
  const own = statSync(database).ino
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .filter((path) => isSetAside(path, name) || isDatabase(join(dataDir, path)))
    .filter((path) => statSync(join(dataDir, path)).ino !== own)
    .sort()
}

/** Half a copy, or the log of one, is not a database, and holds what the database held. */
const isSetAside = (path: string, name: string): boolean =>
  basename(path).startsWith(`${name}.before-`) || basename(path).startsWith(STAGING_PREFIX)

const isDatabase = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true && isSqlite(path)

/**
 * Writes all pages again, because a page that was split keeps copies of rows between its cells, and empties the
 * write-ahead log. A server reads meanwhile, and waits to write.
 * @throws DataFault while another program reads
 */
export const rewriteFile = (sqlite: SqliteDatabase): void => {
  sqlite.run('PRAGMA temp_store = FILE') // else all of it has to fit in memory
  sqlite.run('VACUUM')
  const { busy } = sqlite.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
  if (busy !== 0) throw new DataFault('another program reads the database, and keeps its old pages\nTry again.')
}
