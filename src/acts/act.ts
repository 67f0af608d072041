import { type Static, Type } from '@sinclair/typebox'
import type { AuditSeal } from '../audit/audit.ts'
import type { DataConfig } from '../config/config.ts'
import type { Database, Tx } from '../db/database.ts'
import type { Failure } from '../kernel/failure.ts'
import type { Delivering } from '../orders/delivery.ts'
import type { Moving } from '../payouts/progress.ts'
import type { Administration } from './administration.ts'
import type { List, Row } from './cells.ts'
import type { Fields } from './fields.ts'

/** The acts of operators: their context, and their results (contract C20). */

/** The request of a command. */
export const ActRequest = Type.Object({
  id: Type.String({
    minLength: 1,
    description: 'The id of this act in the audit. A repeated request with the same id gets the result of the first.',
  }),
  command: Type.String({ description: 'The words of the command, without the program: `client add`' }),
  subject: Type.String({ description: 'The record that it is about, as the operator typed it' }),
  user: Type.String({ description: 'The operator' }),
  input: Type.Readonly(Type.Record(Type.String(), Type.Unknown(), { description: 'The values of the fields' })),
  isDryRun: Type.Boolean(),
  seen: Type.Optional(
    Type.Union([Type.Integer(), Type.Undefined()], {
      description:
        'The last row of the audit that the operator had seen. A later act on the same record refuses this one.',
    }),
  ),
  refusal: Type.Optional(
    Type.Union([Type.String(), Type.Undefined()], {
      description: 'The reason if the command itself refused the act: the audit gets a row, and nothing else is done.',
    }),
  ),
})
export type ActRequest = Static<typeof ActRequest>

/** The performer of acts: a server, or a command that holds the folder. */
export interface Performer extends Administration {
  config: DataConfig
  database: Database
  delivering: Delivering
  /** True if the database is a copy of PostgreSQL. */
  isCopy: boolean
  write: <T>(unit: (tx: Tx) => T) => Promise<T>
  /** Called after the commit of an effect. Reads cached data again. */
  refresh: () => void
}

/** The input of an act, and the listeners of its progress. */
export interface Asking {
  /** The text of the command's file, to which a FileFault refers. */
  input: string
  note: (text: string) => void
  /** A total of 0 means that the total is not known. */
  onProgress: (what: string, done: number, total: number) => void
}

/** The change of a command, for the audit. */
export interface Change {
  before?: object | undefined
  after?: object | undefined
}

/** The context of the effect of an act, in live mode and in the sandbox. */
export interface StepContext extends Administration {
  delivering: Delivering
  paying: Moving
}

export interface Acting extends Performer, Asking, StepContext {
  /** Records the change, in the transaction of the effect. The seal is that of the data folder by default. */
  record: (tx: Tx, change: Change, seal?: AuditSeal) => void
}

export type ActResult = Row | List

/** The operation of the sandbox that does the same as an act (contract C15). */
export interface ControlOperation {
  /** `POST /wallets/{id}/fund`, below `/_sandbox`. */
  route: string
  /** The name for generated clients: `fundWallet`. */
  id: string
  /** The prefix of the names of its errors: `wallet_fund.`. */
  names: string
  /** Its sentence, if that of the command says what only a command does. */
  summary?: string
  description: string
  /** The title of the schema of its body. */
  title: string
  bodyExample: object
  /** The failure of an invalid body. */
  wrong?: Failure
  refuses?: Readonly<Record<string, Failure>>
}

/** The description of an act. It makes the command, the form, and the operation in the sandbox (decision 143). */
export interface Act {
  /** Its name for people, on pages: `Add money`. */
  title: string
  /** One sentence: the help of its command, and the summary of its operation. */
  summary: string
  takes: Fields
  /** True if it moves money or replaces something, so that a command can do it as a dry run (contract C19). */
  isMoney?: true
  /** True if it may be the first act in a folder. Its command then does the first start of a live server, except for the keys. */
  inNewFolder?: true
  /** Set if it needs the folder alone; `folder` works without PostgreSQL. */
  alone?: 'write' | 'folder'
  /** The column of a secret that is shown once, and what to do when it is lost. */
  secret?: { column: string; remedyOf: (result: Row) => string }
  /** Its dry run, if that lists what the text of its file would do, and reads alone. @throws FileFault */
  preview?: (data: Administration, text: string) => List
  /** Converts the text of its file before it is sent; by default, the text is sent as it is. */
  readFile?: (text: string) => string
  /** The operation below `/_sandbox` that does the same in a sandbox: `POST /wallets/{id}/fund` (contract C15). */
  inSandbox?: string
  among?: Among
  perform(acting: Acting, input: object): ActResult | Promise<ActResult>
  /** Completes an act whose effect is in the audit: the server may have ended before it did the rest. */
  complete?: (performer: Performer) => Promise<void>
}

/** The file of a command that acts on each record that it names. */
export interface Among {
  /** The fields that say how the file is read. */
  takes: Fields
  /** @throws ProgramError if it cannot be read */
  read(data: Pick<Administration, 'query' | 'reference'>, text: string, input: object): Named
}

interface Named {
  ids: string[]
  /** The reading of the file in words, and the lines that name no record. */
  sentences: string[]
  /** Lines that name a record and are left, each with its reason. */
  left: string[]
  /** False if each line had to name a record, and one names none. */
  isWhole: boolean
}

/** The acts by the words of their commands. */
export type Acts = Readonly<Record<string, Act>>
