import { Database as SqliteDatabase } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { asImage } from '../folder/image.ts'
import { closeConnection, constrain, openReader, openWriter } from './connections.ts'
import { type CommitGate, inSavepoint, SharedCommit } from './shared-commit.ts'
import { isPassing, OpenFiles } from './storage.ts'

export type Query = Pick<BunSQLiteDatabase, 'select' | 'selectDistinct'>

export const queryOn = (sqlite: SqliteDatabase): Query => withStatements(drizzle({ client: sqlite }), sqlite)

const connections = new WeakMap<Query, SqliteDatabase>()
const withStatements = <Connection extends Query>(connection: Connection, sqlite: SqliteDatabase): Connection => {
  connections.set(connection, sqlite)
  return connection
}

export const connectionOf = (query: Query): SqliteDatabase => {
  const sqlite = connections.get(query)
  if (!sqlite) throw new Error('a query that no database made')
  return sqlite
}

const isOpen = Symbol('isOpen')
/** An open transaction. Only {@link Database} creates one. */
export type Tx = Pick<BunSQLiteDatabase, 'select' | 'selectDistinct' | 'insert' | 'update' | 'delete'> & {
  readonly [isOpen]: true
}

export class Database {
  #query: Query
  readonly #tx: Tx
  readonly #commits: SharedCommit

  /** The files of a server; undefined in memory, and for a command. */
  #files: OpenFiles | undefined

  private constructor(
    readonly sqlite: SqliteDatabase,
    /** Other processes can read the database. */
    readonly onFile: boolean,
  ) {
    this.#tx = withStatements(Object.assign(drizzle({ client: sqlite }), { [isOpen]: true as const }), sqlite)
    this.#query = this.#tx
    this.#commits = new SharedCommit(sqlite, () => this.#files)
  }

  /** Reads committed data and, in a unit of work, the writes of that unit. */
  get query(): Query {
    return this.#isInUnit ? this.#tx : this.#query
  }
  #isInUnit = false

  /** A new object for each unit of work: it is the key of data that the unit reads once. */
  unit = {}

  /** Undoes the writes of the open unit of work so far. */
  undo(): void {
    this.sqlite.run('ROLLBACK TO work')
    this.unit = {}
  }

  static openFile(path: string): Database {
    return new Database(openWriter(path), true)
  }

  static openToRead(path: string): Database {
    return new Database(openReader(path), true)
  }

  /** From now on writes fail when the files are gone, or when another program holds the database. */
  serve(): void {
    if (!this.onFile) return
    this.sqlite.run('PRAGMA busy_timeout = 0')
    this.#files = new OpenFiles(this.sqlite.filename)
  }

  /**
   * From now on, each transaction is committed at a gate first. Until then, others read the state before it, through
   * another connection.
   */
  gateBy(gate: CommitGate): void {
    this.#commits.gate = gate
    // A commit that a loss of power takes from the file is still at the gate, and the file gets it from there.
    this.setDurable(false)
    this.#reader = openReader(this.sqlite.filename)
    this.#query = queryOn(this.#reader)
  }
  #reader: SqliteDatabase | undefined

  /** Only what the work writes through its argument is written meanwhile. Others wait for some seconds, and then get a 503. */
  whileHeld<T>(work: (pass: <R>(write: () => Promise<R>) => Promise<R>) => Promise<T>): Promise<T> {
    return this.#commits.whileHeld(work)
  }

  /** Resolves when nothing is being committed. */
  settled(): Promise<void> {
    return this.#commits.settled()
  }

  /** Called in a transaction of {@link write}: PostgreSQL then keeps no earlier versions of the rows. */
  eraseChanges(): void {
    this.#commits.gate?.eraseChanges()
  }

  /** Called in a transaction of {@link write}, for work that needs its commit. */
  afterCommit(work: () => void): void {
    this.#commits.afterCommit(work)
  }

  /** Sets whether commits wait for the disk. A loss of power may undo those that do not, until a later commit waits. */
  setDurable(isDurable: boolean): void {
    this.sqlite.run(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`)
  }

  static inMemory(image?: Uint8Array): Database {
    const sqlite = image
      ? SqliteDatabase.deserialize(image, { strict: true })
      : new SqliteDatabase(':memory:', { strict: true })
    constrain(sqlite)
    return new Database(sqlite, false)
  }

  /** Commits waiting units of work at once. */
  flush(): void {
    this.#commits.flush()
  }

  /** Commits waiting units of work, then does the work `last`, and returns the database as an image. */
  image(last?: (tx: Tx) => void): Uint8Array {
    this.flush()
    if (last) this.fill(last)
    return asImage(this.sqlite.serialize())
  }

  get byteCount(): number {
    const bytes = this.sqlite.query<{ bytes: number }, []>(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
    )
    return bytes.get()?.bytes ?? 0
  }

  closeToImage(): Uint8Array {
    const image = this.image()
    this.#closeAtOnce()
    return image
  }

  #closeAtOnce(): void {
    if (this.#reader) closeConnection(this.#reader)
    closeConnection(this.sqlite)
  }

  /**
   * Resolves after the commit, which units of work share. A unit that throws is undone alone.
   * @throws DomainError unavailable while the database is held for too long
   */
  write<T>(work: (tx: Tx) => T): Promise<T> {
    return this.#commits.run(() => this.#asUnit(work))
  }

  /** {@link write} for nobody who waits: it has time for as long as the database is held. */
  writePatiently<T>(work: (tx: Tx) => T): Promise<T> {
    return this.#commits.run(() => this.#asUnit(work), true)
  }

  #asUnit<T>(work: (tx: Tx) => T): T {
    this.#isInUnit = true
    this.unit = {}
    try {
      return work(this.#tx)
    } finally {
      this.#isInUnit = false
    }
  }

  /** Adds something to each transaction of {@link write}, after its units of work. */
  beforeCommit(work: (tx: Tx) => void): void {
    this.#commits.beforeCommit = () => work(this.#tx)
  }

  /** Writes at once, in a new transaction or as a part of an open one, to a database that serves no requests yet. */
  fill<T>(work: (tx: Tx) => T): T {
    this.unit = {}
    if (this.sqlite.inTransaction) return inSavepoint(this.sqlite, () => work(this.#tx))
    this.sqlite.run('BEGIN IMMEDIATE')
    try {
      const result = work(this.#tx)
      if (this.#commits.gate?.hasChanges()) throw new Error('this would not be in the record')
      this.sqlite.run('COMMIT')
      return result
    } finally {
      if (this.sqlite.inTransaction) this.sqlite.run('ROLLBACK')
    }
  }

  /** The reason why writes are refused; undefined while they are not. */
  get trouble(): Error | undefined {
    return this.#commits.trouble
  }

  /** The damage that was found in the file; until a restart, writes are refused (contract C4). */
  get damage(): Error | undefined {
    return this.#commits.damage
  }

  /** Called with the errors of reads, among which one can show damage. */
  noteDamage(error: unknown): void {
    this.#commits.noteDamage(error)
  }

  /** True if writes are expected to succeed, as far as that is known without one. */
  get isWritable(): boolean {
    return this.trouble === undefined && this.#files?.areWritable() !== false
  }

  /** Checks whether the files are in place and can be written, and whether writes that were refused work again. */
  lookAfter(): void {
    if (this.isWritable && this.#files?.areInPlace() !== false) return
    this.write(() => this.#rewriteHeader()).catch(() => undefined) // the trouble remains
  }

  #rewriteHeader(): void {
    const version = this.sqlite.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
    this.sqlite.run(`PRAGMA user_version = ${version}`)
  }

  /** Closes, and leaves the log to a server: emptying it would block the server's writes while anyone reads. */
  leave(): void {
    this.#commits.end()
    this.#closeAtOnce()
  }

  /** Empties the write-ahead log into the file and closes it. */
  close(): void {
    this.#commits.end()
    try {
      if (this.onFile) this.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      if (!isPassing(error)) throw error // otherwise the next opening reads the log
    }
    this.#closeAtOnce()
  }
}
