import crypto, { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import postgres from 'postgres'
import type { PostgresTarget } from '../config/postgres-url.ts'
import { HOUR_MS, SECOND_MS } from '../kernel/clock.ts'
import { DataFault, EXIT, ProgramError } from '../kernel/exit.ts'
import { freshSecret } from '../kernel/ids.ts'

/** As many take half a second; PostgreSQL asks for 4,096 by default. */
const ITERATIONS_MAX = 1_000_000

const { pbkdf2Sync } = crypto
/**
 * The library hashes a password on the thread, as often as the server at the other end asks for, and has no option for it.
 * A server that asks for more than {@link ITERATIONS_MAX} gets the proof of a password that nobody knows, so it refuses the login.
 */
crypto.pbkdf2Sync = (password, salt, iterations, ...rest) =>
  iterations > ITERATIONS_MAX
    ? pbkdf2Sync(freshSecret(32), salt, 1, ...rest)
    : pbkdf2Sync(password, salt, iterations, ...rest)

/** PostgreSQL did not answer: the request may or may not be done. */
export class PostgresAway extends ProgramError {
  constructor(
    /** The cause alone, for the log. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(
      EXIT.failed,
      `cannot connect to PostgreSQL: ${reason}\nCheck that it is running and that this machine can reach it.`,
      options,
    )
  }
}

export class PostgresRefusal extends ProgramError {
  constructor(
    /** The cause alone, for the log. */
    readonly reason: string,
    /** The SQLSTATE of the refusal. */
    readonly state: string,
    options?: ErrorOptions,
  ) {
    const remedy = REMEDIES.find(([beginning]) => state.startsWith(beginning))?.[1]
    super(
      remedy === undefined ? EXIT.failed : EXIT.data,
      remedy === undefined
        ? `the record refuses: ${reason}\nSee the log of PostgreSQL.`
        : `PostgreSQL: ${reason}\n${remedy}`,
      options,
    )
  }

  /** Refusals that the same rows would always get: they break a rule, or PostgreSQL cannot store them. */
  get isOfRows(): boolean {
    return /^2[23]/.test(this.state)
  }
}

/** The cause of an error, for the log: what an operator reads says more. */
export const causeOf = (error: unknown): string =>
  error instanceof PostgresAway || error instanceof PostgresRefusal
    ? error.reason
    : error instanceof Error
      ? error.message
      : String(error)

/** The longest part of a message of PostgreSQL that is shown: it can hold a whole statement. */
const TEXT_LENGTH_MAX = 500

/** Scrip's own SQLSTATE. */
const CERTIFICATE_REFUSED = 'SC003'

/** Advice if trying again does not help: wrong user, password, database, rights or certificate. */
const REMEDIES = [
  ['28', 'Check user and password in SCRIP_POSTGRES, and pg_hba.conf of PostgreSQL.'],
  ['3D', 'Create the database, or use another one.'],
  ['42501', 'Grant it to the user, or use the owner of the schema scrip.'],
  [CERTIFICATE_REFUSED, 'Name the host that it is for, and its certificate authority in sslrootcert.'],
] as const

/** The time limit of a server's query, unless the caller sets another one. */
const PATIENCE_MS = 5 * SECOND_MS
/** For commands: no other server waits to take over from them, and a busy disk can stop PostgreSQL for seconds. */
export const COMMAND_PATIENCE_MS = 30 * SECOND_MS
const CONNECT_SECONDS_MAX = 5
/** A server whose network is cut keeps no transaction open for longer. */
const IDLE_TRANSACTION = '10s'
/** For transactions that read or write all rows: on a busy machine, the work on one page can take longer than that. */
const IDLE_LONG_TRANSACTION = '10min'
const LONG_TRANSACTION_MS = HOUR_MS

/** Settings of our session, which override those of the role and the database (contract C18). Our clock ends the waits of a commit. */
const SESSION = `SET statement_timeout = 0; SET lock_timeout = 0; SET search_path = pg_catalog, pg_temp; SET synchronous_commit = on;
  SET idle_in_transaction_session_timeout = '${IDLE_TRANSACTION}'; SET bytea_output = hex;
  SET idle_session_timeout = 0; SET datestyle = ISO; SET extra_float_digits = 1; SET client_min_messages = warning; SET timezone = 'UTC'`

/** Said in each transaction: a pooler gives the next one another session, and a default of the role or the database may be stricter. */
export const READ_COMMITTED = 'ISOLATION LEVEL READ COMMITTED'

export type Ask = <Row extends object>(text: string, values?: readonly Value[], patienceMs?: number) => Promise<Row[]>
type Value = string | number | boolean | null

/** The time that PostgreSQL has to end the backend of the previous connection. */
const END_MS_MAX = 500

/**
 * One connection at a time, opened again when it is needed. The backend of an abandoned connection may still wait, for
 * example for a standby. The next connection ends it first, so that there is never more than one.
 */
export class Connection {
  #client: { sql: postgres.Sql; isReady: Promise<unknown>; isOpen: boolean } | undefined
  /** Warnings since the last query: a commit that was not replicated is reported as one. */
  #warnings = 0

  /** The process of PostgreSQL that serves this connection, or has served the previous one. */
  #backend = 0
  /** A name that no other connection of any server has. */
  readonly #applicationName: string

  readonly #authorities: string | undefined

  /** @throws DataFault, or an error of the file system, if sslrootcert does not name a file with certificates */
  constructor(
    private readonly target: PostgresTarget,
    name: string,
    private readonly patienceMs = PATIENCE_MS,
  ) {
    this.#applicationName = `scrip ${name} ${Buffer.from(freshSecret(4)).toString('hex')}`
    this.#authorities = target.rootCertificate === undefined ? undefined : certificatesIn(target.rootCertificate)
  }

  /** @throws PostgresAway, PostgresRefusal */
  readonly ask: Ask = (text, values = [], patienceMs = this.patienceMs) =>
    this.#within(patienceMs, async (sql) => {
      const results = await sql.unsafe(`SET TRANSACTION ${READ_COMMITTED}; ${inlined(text, values)}`)
      const rows: unknown = results.at(-1) // of the last statement that has some
      return (Array.isArray(rows) ? [...rows] : []) as never
    })

  /** As {@link ask}; a warning counts as no response. */
  async askStrictly<Row extends object>(text: string, values: readonly Value[], patienceMs: number): Promise<Row[]> {
    this.#warnings = 0
    const rows = await this.ask<Row>(text, values, patienceMs)
    if (this.#warnings > 0) throw this.#lost('PostgreSQL warned that a commit may not be replicated')
    return rows
  }

  /** Several queries in one transaction. @throws PostgresAway, PostgresRefusal */
  transaction<T>(kind: string, patienceMs: number, work: (ask: Ask) => Promise<T>): Promise<T> {
    const isLong = patienceMs >= LONG_TRANSACTION_MS
    return this.#within(
      patienceMs,
      async (sql) =>
        (await sql.begin(kind, async (tx) => {
          if (isLong) await tx.unsafe(`SET LOCAL idle_in_transaction_session_timeout = '${IDLE_LONG_TRANSACTION}'`)
          return work(async (text, values = []) => [...(await tx.unsafe(inlined(text, values)))] as never)
        })) as T,
    )
  }

  close(): void {
    const { sql } = this.#client ?? {}
    this.#client = undefined
    sql?.end({ timeout: 0 }).catch(() => undefined)
  }

  async #within<T>(patienceMs: number, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>()
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      late.reject(this.#lost(`no answer within ${patienceMs} ms`))
    }, patienceMs)
    try {
      return await Promise.race([this.#ready(() => isOver).then(work), late.promise])
    } catch (error) {
      isOver = true
      throw this.#explained(error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Tries each host until one of them accepts writes, or nobody waits any longer. */
  async #ready(isOver: () => boolean): Promise<postgres.Sql> {
    if (this.#client?.isOpen === false) this.close()
    this.#client ??= this.#connect()
    const client = this.#client
    try {
      await client.isReady
    } catch (error) {
      if (this.#client === client) this.close()
      this.#hostIndex = (this.#hostIndex + 1) % this.target.hosts.length
      if (++this.#failures % this.target.hosts.length !== 0 && !isOver()) return this.#ready(isOver)
      throw error
    }
    this.#failures = 0
    return client.sql
  }
  #hostIndex = 0
  #failures = 0

  #connect() {
    const { hosts, user, password = '', database, tls } = this.target
    const { host, port } = hosts[this.#hostIndex] ?? { host: '', port: 0 }
    const sql = postgres({
      ...(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }),
      user,
      password,
      database,
      ssl: tlsOptionsOf(tls, this.#authorities, host),
      max: 1,
      max_lifetime: null,
      idle_timeout: 0,
      connect_timeout: CONNECT_SECONDS_MAX,
      backoff: false,
      // Works with a pooler that gives each transaction another connection.
      prepare: false,
      fetch_types: false,
      connection: { application_name: this.#applicationName },
      onnotice: () => {
        this.#warnings += 1
      },
      onclose: () => {
        client.isOpen = false
      },
    })
    const client = { sql, isReady: this.#begin(sql), isOpen: true }
    client.isReady.catch(() => undefined)
    return client
  }

  async #begin(sql: postgres.Sql): Promise<void> {
    await beginSession(sql)
    const [state] = await sql.unsafe<{ backend: number; is_standby: boolean; has_ended: boolean }[]>(
      `SELECT pg_backend_pid() AS backend, pg_is_in_recovery() AS is_standby,
        coalesce(bool_and(pg_terminate_backend(pid, ${END_MS_MAX})), true) AS has_ended FROM pg_stat_activity
        WHERE pid = ${this.#backend} AND pid <> pg_backend_pid() AND application_name = '${this.#applicationName}'`,
    )
    if (!state?.has_ended) throw new PostgresAway('the connection before is still open')
    this.#backend = state.backend
    if (state.is_standby && this.target.hosts.length > 1) throw new PostgresAway('it is a standby')
  }

  #explained(error: unknown): Error {
    if (error instanceof PostgresAway || error instanceof PostgresRefusal) return error
    const { name, message, code, syscall } = error as Partial<NodeJS.ErrnoException>
    if (name === 'PostgresError' && code !== undefined) {
      const refusal = refusalOf(code, String(message), { cause: error })
      if (refusal instanceof PostgresAway) this.close()
      return refusal
    }
    if (isOfCertificate(code))
      return new PostgresRefusal(`its certificate is refused: ${message}`, CERTIFICATE_REFUSED, { cause: error })
    if (name !== 'PostgresError' && code === undefined) return error as Error
    // Only the runtime's TLS ends a connection without a system call: the other side did not begin it.
    const isWithoutTls = this.target.tls !== 'disable' && code === 'ECONNRESET' && syscall === undefined
    return this.#lost(isWithoutTls ? 'it ends the connection instead of using TLS' : String(message), { cause: error })
  }

  #lost(reason: string, options?: ErrorOptions): PostgresAway {
    this.close()
    return new PostgresAway(reason.slice(0, TEXT_LENGTH_MAX), options)
  }
}

const SESSION_TRIES = 10
/** PostgreSQL has cancelled a statement. */
const CANCELED = '57014'

/** A default of the role or the database may allow a statement a millisecond, which the one that overrides it can miss, too. */
const beginSession = async (sql: postgres.Sql): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await sql.unsafe(SESSION)
      return
    } catch (error) {
      if (tries === SESSION_TRIES || (error as Partial<NodeJS.ErrnoException>).code !== CANCELED) throw error
    }
  }
}

/** A query in one message: with separate parameters the client would ask for their types first, and wait. */
const inlined = (text: string, values: readonly Value[]): string =>
  values.length === 0
    ? text
    : text.replace(/\$(\d+)/g, (_, place: string) => literalOf(values[Number(place) - 1] ?? null))

const literalOf = (value: Value): string => {
  if (typeof value !== 'string') return value === null ? 'NULL' : String(value)
  let tag = '$s$'
  for (let count = 0; `${value}$`.includes(tag); count += 1) tag = `$s${count}$`
  return tag + value + tag
}

/** The error for a SQLSTATE of PostgreSQL. */
export const refusalOf = (state: string, text: string, options?: ErrorOptions): PostgresAway | PostgresRefusal => {
  const message = text.slice(0, TEXT_LENGTH_MAX) + (state === READ_ONLY ? READ_ONLY_CAUSE : '')
  return isEndOfConnection(state) ? new PostgresAway(message, options) : new PostgresRefusal(message, state, options)
}

const READ_ONLY = '25006'
const READ_ONLY_CAUSE = ': it is a standby, or default_transaction_read_only is on'

/**
 * The connection or the server has ended, or the server is no longer the primary. The commit may still have been made.
 */
const isEndOfConnection = (state: string): boolean => state === READ_ONLY || /^(?:08|57P|53300)/.test(state)

const isOfCertificate = (code: string | undefined): boolean =>
  /^(?:ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_)/.test(code ?? '')

/** Reads the certificates before the first connection: TLS would refuse a wrong file with an error that nobody can catch. */
const certificatesIn = (file: string): string => {
  const text = readFileSync(file, 'utf8')
  try {
    new X509Certificate(text)
    return text
  } catch {
    throw new DataFault(`sslrootcert: ${file} contains no certificate\nGive a PEM file with CA certificates.`)
  }
}

const tlsOptionsOf = (
  tls: PostgresTarget['tls'],
  authorities: string | undefined,
  host: string,
): boolean | 'require' | ConnectionOptions => {
  if (tls === 'disable') return false
  if (tls === 'require') return 'require'
  return {
    rejectUnauthorized: true,
    ...(authorities !== undefined && { ca: authorities }),
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...(tls === 'verify-ca' && { checkServerIdentity: () => undefined }),
  }
}
