import type { AuditSeal } from '../audit/audit.ts'
import type { DataConfig } from '../config/config.ts'
import type { Database, Tx } from '../db/database.ts'
import type { Delivering } from '../orders/delivery.ts'
import type { Administration } from './administration.ts'
import type { List, Row } from './cells.ts'

/** What an act of an operator gets, and what it answers (contract C20). */

/** What a command asks for. */
export interface Asked {
  /** Names this act in the audit: who asks again learns what became of it. */
  id: string
  /** Without the program: `client add`. */
  command: string
  /** What it is about, as it was given. */
  subject: string
  /** Who asks. */
  user: string
  /** The arguments and options of the command. */
  args: readonly unknown[]
  isDryRun: boolean
  /** The last row of the audit that was seen when it was decided: an act on the same record since then refuses it. */
  seen?: number | undefined
  /** The reason of a command that refused the act itself: the audit gets its row, and nothing else is done. */
  refusal?: string | undefined
}

/** What performs acts: a server, or a command that holds the folder. */
export interface Performer extends Administration {
  config: DataConfig
  database: Database
  delivering: Delivering
  /** Whether the database is the copy of a record in PostgreSQL. */
  isCopy: boolean
  write: <T>(unit: (tx: Tx) => T) => Promise<T>
  /** Called after the commit of an effect: what is kept in memory is read again. */
  refresh: () => void
}

/** Where an act comes from, and who listens. */
export interface Asking {
  /** The text of the file that the command was given. */
  input: string
  note: (text: string) => void
  /** A total of 0 is not known. */
  onProgress: (what: string, done: number, total: number) => void
}

/** What a command has changed, for the audit. */
export interface Change {
  before?: object | undefined
  after?: object | undefined
}

export interface Acting extends Performer, Asking {
  asked: Asked
  /** Called in the transaction of the effect. By default, the seal of the data folder. */
  record: (tx: Tx, change: Change, seal?: AuditSeal) => void
  /** Does some work on the text of a file. @throws ProgramError that lists all that is wrong with it */
  withInput: <T>(file: string, work: (text: string) => T | Promise<T>) => Promise<T>
}

export type ActResult = Row | List

export type Act = (acting: Acting, ...args: never[]) => ActResult | Promise<ActResult>

/** By the words of their commands. */
export type Acts = Readonly<Record<string, Act>>
