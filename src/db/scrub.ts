import type { Database as SqliteDatabase } from 'bun:sqlite'
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DataFault, databasePath } from './data-folder.ts'
import { STAGING_PREFIX } from './disk.ts'
import { isSqlite } from './image.ts'

/** Removes every trace of deleted data from the files of a data folder (contract C17, decision 68). */

/** Other databases in a data folder: those that `restore` has set aside, backups, and leftovers of commands that were killed. */
export const copiesIn = (dataDir: string): string[] => {
  const database = databasePath(dataDir)
  const name = basename(database)
  const own = statSync(database).ino
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .filter((path) => isSetAside(path, name) || isDatabase(join(dataDir, path)))
    .filter((path) => statSync(join(dataDir, path)).ino !== own)
    .sort()
}

/** Also matches incomplete copies and their logs: they are not databases, but hold the same data. */
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
  sqlite.run('PRAGMA temp_store = FILE') // otherwise all of it has to fit in memory
  sqlite.run('VACUUM')
  const { busy } = sqlite.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
  if (busy !== 0) throw new DataFault('another program reads the database, and keeps its old pages\nTry again.')
}
