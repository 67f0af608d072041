import type { Database as SqliteDatabase } from 'bun:sqlite'
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DataFault } from '../kernel/exit.ts'
import { databasePath } from './data-folder.ts'
import { STAGING_PREFIX } from './disk.ts'
import { LOCK_FILES } from './folder-lock.ts'
import { isSqlite } from './image.ts'

/** Removes every trace of deleted data from the files of a data folder (contract C17, decision 68). */

/** Other databases in a data folder: those that `restore` has set aside, backups, and leftovers of commands that were killed. */
export const copiesIn = (dataDir: string): string[] => {
  const database = databasePath(dataDir)
  const name = basename(database)
  const lockedFiles = heldIn(dataDir)
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .filter((path) => !lockedFiles.has(inodeOf(join(dataDir, path))))
    .filter((path) => isSetAside(path, name) || isDatabase(join(dataDir, path)))
    .sort()
}

/**
 * The files of the database and of the locks, by their inodes: this process may have them open. To close any descriptor of a file
 * releases all locks that the process has on it, those of SQLite too (POSIX), so no other code may open them.
 */
const heldIn = (dataDir: string): ReadonlySet<number | undefined> => {
  const database = databasePath(dataDir)
  const locks = LOCK_FILES.map((file) => join(dataDir, file))
  return new Set([database, `${database}-wal`, `${database}-shm`, ...locks].map(inodeOf))
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino

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
