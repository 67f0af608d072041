import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { STAGING_PREFIX } from './disk.ts'
import { databasePath } from './files.ts'
import { isSqlite } from './image.ts'
import { LOCK_FILES } from './lock.ts'
import { statOf } from './permissions.ts'

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

const inodeOf = (path: string): number | undefined => statOf(path)?.ino

/** Also matches incomplete copies and their logs: they are not databases, but hold the same data. */
const isSetAside = (path: string, name: string): boolean =>
  basename(path).startsWith(`${name}.before-`) || basename(path).startsWith(STAGING_PREFIX)

const isDatabase = (path: string): boolean => statOf(path)?.isFile() === true && isSqlite(path)
