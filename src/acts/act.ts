import type { AuditSeal } from '../audit/audit.ts'
import type { DataConfig } from '../config/config.ts'
import type { Database, Tx } from '../db/database.ts'
import type { Delivering } from '../orders/delivery.ts'
import type { Moving } from '../payouts/progress.ts'
import type { Administration } from './administration.ts'
import type { List, Row } from './cells.ts'
import type { Fields } from './fields.ts'

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
  /** The text of the file that the command was given. A FileFault is about it. */
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

/** What a step of a record works with, in live mode and in the sandbox. */
export interface StepContext extends Administration {
  delivering: Delivering
  paying: Moving
}

export interface Acting extends Performer, Asking, StepContext {
  asked: Asked
  /** Called in the transaction of the effect. By default, the seal of the data folder. */
  record: (tx: Tx, change: Change, seal?: AuditSeal) => void
}

export type ActResult = Row | List

/** What an operator does, said once: its command is made of it, its form, and its operation in the sandbox (decision 143). */
export interface Act {
  /** One sentence: the help of its command, and the summary of its operation. */
  summary: string
  takes: Fields
  /** It moves money, so that a command can do it as a dry run (contract C19). */
  isMoney?: true
  /** May be the first of a folder: its command makes what a live server makes at its first start, except for the keys. */
  inNewFolder?: true
  /** Needs the folder for itself; `folder` knows no record in PostgreSQL. */
  alone?: 'write' | 'folder'
  /** What is sent of the text of its file; by default, all of it. */
  readFile?: (text: string) => string
  /** Where no option is given, it shows this, which is not an act. */
  show?: (data: Administration, input: never) => Row
  perform: (acting: Acting, input: never) => ActResult | Promise<ActResult>
}

/** By the words of their commands. */
export type Acts = Readonly<Record<string, Act>>
