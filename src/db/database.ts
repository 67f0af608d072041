import { Database as SqliteDatabase, type Statement } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { makePrivateFile } from './data-folder.ts'
import { SharedCommit } from './shared-commit.ts'
import { isPassing, OpenFiles } from './storage.ts'

/** Waits for another process's write (a backup, an administrative command) before giving up. */
const BUSY_TIMEOUT_MS = 5_000

/**
 * Half of what is usual: a commit writes every page that it has touched, and an insert touches one in each index, so that
 * a quarter of an insert's time was in copying and summing up the rest of pages.
 */
export const PAGE_BYTES = 2_048
/**
 * How many pages the write-ahead log holds, 8 MiB, before they go into the file: the server does that in its thread, and
 * takes 10 to 40 ms. A log that grew beyond, because somebody read for long, is cut to this size again.
 */
const WAL_PAGES_MAX = 4_096

/** Where the header of a database file says how it is journaled: twice, for writing and for reading. */
const JOURNAL_MODE_OFFSET = 18
const ROLLBACK_JOURNAL = 1

/** So many statements are remembered before those that are gone are forgotten. */
const MADE_MAX = 512

/** What reads the database, inside a transaction or outside. */
export type Query = Pick<BunSQLiteDatabase, 'select'>

declare const isOpen: unique symbol
/** An open transaction: what a unit of work reads and writes through. Only {@link Database} makes one. */
export type Tx = Pick<BunSQLiteDatabase, 'select' | 'insert' | 'update' | 'delete' | 'transaction'> & {
  readonly [isOpen]: true
}

/** What SQLite leaves off by default: references are checked, and REPLACE is the deletion that triggers refuse. */
const constrain = (sqlite: SqliteDatabase): void => {
  sqlite.run('PRAGMA foreign_keys = ON')
  sqlite.run('PRAGMA recursive_triggers = ON')
}

/** One SQLite database of ours: the query builder, the driver below it, and the one way to write. */
export class Database {
  readonly query: Query
  readonly #tx: Tx
  readonly #commits: SharedCommit

  /** Reads a number that changes with each commit of another connection; left out where there can be none. */
  readonly #dataVersion: Statement<{ data_version: number }, []> | undefined
  #seenVersion: number | undefined
  /** What a server has open; undefined in memory, and for a command. */
  #files: OpenFiles | undefined
  #made: WeakRef<Statement>[] = []
  #madeMax = MADE_MAX

  private constructor(
    readonly sqlite: SqliteDatabase,
    /** Whether it outlives the process, and others can write to it. */
    readonly onFile: boolean,
  ) {
    if (!onFile) this.#rememberStatements()
    this.#tx = drizzle({ client: sqlite }) as unknown as Tx
    this.query = this.#tx
    this.#commits = new SharedCommit(sqlite, () => this.#files)
    this.#dataVersion = onFile ? sqlite.query('PRAGMA data_version') : undefined
    this.#seenVersion = this.#dataVersion?.get()?.data_version
  }

  /** A database file that keeps every acknowledged commit through a crash or a loss of power. */
  static openFile(path: string): Database {
    makePrivateFile(path)
    const sqlite = new SqliteDatabase(path, { create: true, readwrite: true, strict: true })
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    sqlite.run(`PRAGMA page_size = ${PAGE_BYTES}`)
    sqlite.run('PRAGMA journal_mode = WAL')
    sqlite.run('PRAGMA synchronous = FULL')
    sqlite.run(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}`)
    sqlite.run(`PRAGMA journal_size_limit = ${WAL_PAGES_MAX * PAGE_BYTES}`)
    // What is deleted is overwritten: personal data must not stay in pages that are free.
    sqlite.run('PRAGMA secure_delete = ON')
    // What a savepoint would have to undo goes to a temporary file otherwise, page by page, once it is more than 64 KiB.
    sqlite.run('PRAGMA temp_store = MEMORY')
    constrain(sqlite)
    return new Database(sqlite, true)
  }

  /**
   * From now on the thread of a server waits for nobody: not for the lock of another process, and it acknowledges nothing
   * once its files are gone.
   */
  serve(): void {
    if (!this.onFile) return
    this.sqlite.run('PRAGMA busy_timeout = 0')
    this.#files = new OpenFiles(this.sqlite.filename)
  }

  /** A database in memory: empty, or the copy of an image. */
  static inMemory(image?: Uint8Array): Database {
    const sqlite = image
      ? SqliteDatabase.deserialize(image, { strict: true })
      : new SqliteDatabase(':memory:', { strict: true })
    constrain(sqlite)
    return new Database(sqlite, false)
  }

  /** Does the writes that are waiting, and answers the whole as one image, which opens like any other database. */
  image(): Uint8Array {
    this.#commits.flush()
    const image = this.sqlite.serialize()
    // The image of a file says that a write-ahead log belongs to it; it has none, and would not open without these.
    image.fill(ROLLBACK_JOURNAL, JOURNAL_MODE_OFFSET, JOURNAL_MODE_OFFSET + 2)
    return image
  }

  /** How many bytes its image has. */
  get byteCount(): number {
    const bytes = this.sqlite.query<{ bytes: number }, []>(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
    )
    return bytes.get()?.bytes ?? 0
  }

  /** Does the writes that are waiting, closes a database in memory, and answers all that it held. */
  closeToImage(): Uint8Array {
    const image = this.image()
    this.#closeAtOnce()
    return image
  }

  /** A connection keeps its memory until the last statement that was made on it is finalized. */
  #closeAtOnce(): void {
    for (const made of this.#made) made.deref()?.finalize()
    this.#made = []
    this.sqlite.close()
  }

  /** Remembers the statements of a connection in memory, which is opened and closed often. */
  #rememberStatements(): void {
    const { sqlite } = this
    const prepare = sqlite.prepare.bind(sqlite)
    sqlite.prepare = ((...given: Parameters<typeof prepare>) => {
      const statement = prepare(...given)
      if (this.#made.length >= this.#madeMax) {
        this.#made = this.#made.filter((made) => made.deref() !== undefined)
        this.#madeMax = Math.max(MADE_MAX, 2 * this.#made.length)
      }
      this.#made.push(new WeakRef(statement))
      return statement
    }) as typeof prepare
  }

  /**
   * Runs a synchronous unit of work in a transaction and answers after the commit. Units that arrive together share
   * one commit; one that throws is undone alone, and the others stand.
   */
  write<T>(work: (tx: Tx) => T): Promise<T> {
    return this.#commits.run(() => work(this.#tx))
  }

  /** Runs a unit of work in a transaction of its own, at once: how a database is filled that serves nobody yet. */
  fill<T>(work: (tx: Tx) => T): T {
    return this.#tx.transaction(() => work(this.#tx), { behavior: 'immediate' })
  }

  /** Why writes are refused, if they are. */
  get trouble(): Error | undefined {
    return this.#commits.trouble
  }

  /** Looks, where no request does, whether the files are in place, and whether writes that were refused work again. */
  lookAfter(): void {
    if (this.trouble === undefined && this.#files?.areInPlace() !== false) return
    this.write(() => this.#rewriteHeader()).catch(() => undefined) // it stays in trouble
  }

  /** A write that changes nothing. */
  #rewriteHeader(): void {
    const version = this.sqlite.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
    this.sqlite.run(`PRAGMA user_version = ${version}`)
  }

  /** Whether another process has written since this was asked last. To look takes 1 to 2 µs: each request does. */
  changedElsewhere(): boolean {
    const version = this.#dataVersion?.get()?.data_version
    if (version === this.#seenVersion) return false
    this.#seenVersion = version
    return true
  }

  /**
   * Does the writes that are waiting and closes. The log is left to a server that works on the file: emptying it would
   * keep that server from writing for as long as anyone reads.
   */
  leave(): void {
    this.#commits.end()
    this.sqlite.close()
  }

  /**
   * Does the writes that are waiting, empties the write-ahead log into the file, so that the file alone is the whole
   * truth, and closes it.
   */
  close(): void {
    this.#commits.end()
    try {
      if (this.onFile) this.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      if (!isPassing(error)) throw error // else the log is read when the file is opened again
    }
    this.#closeAtOnce()
  }
}
