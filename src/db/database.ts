import { Database as SqliteDatabase } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { SharedCommit } from './shared-commit.ts'

/** Waits for another process's write (a backup, an administrative command) before giving up. */
const BUSY_TIMEOUT_MS = 5_000

/** What a write sees: the same database, inside a transaction that is open. */
export type Transaction = BunSQLiteDatabase

/** One SQLite database of ours: the query builder, the driver below it, and the one way to write. */
export class Database {
  readonly query: BunSQLiteDatabase
  readonly #commits: SharedCommit

  private constructor(readonly sqlite: SqliteDatabase) {
    this.query = drizzle({ client: sqlite })
    this.#commits = new SharedCommit(sqlite)
  }

  /** A database file that keeps every acknowledged commit through a crash or a loss of power. */
  static openFile(path: string): Database {
    const sqlite = new SqliteDatabase(path, { create: true, readwrite: true, strict: true })
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    sqlite.run('PRAGMA journal_mode = WAL')
    sqlite.run('PRAGMA synchronous = FULL')
    sqlite.run('PRAGMA foreign_keys = ON')
    return new Database(sqlite)
  }

  /** A database in memory: empty, or the copy of an image. */
  static inMemory(image?: Uint8Array): Database {
    const sqlite = image
      ? SqliteDatabase.deserialize(image, { strict: true })
      : new SqliteDatabase(':memory:', { strict: true })
    sqlite.run('PRAGMA foreign_keys = ON')
    return new Database(sqlite)
  }

  /** The whole database as one image, to be opened again with {@link inMemory}. */
  image(): Uint8Array {
    return this.sqlite.serialize()
  }

  /**
   * Runs a synchronous unit of work in a transaction and answers after the commit. Units that arrive together share
   * one commit; one that throws is undone alone, and the others stand.
   */
  write<T>(work: (transaction: Transaction) => T): Promise<T> {
    return this.#commits.run(() => work(this.query))
  }

  /** Empties the write-ahead log into the file, so that the file alone is the whole truth, and closes it. */
  close(): void {
    this.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    this.sqlite.close()
  }
}
