import { type AuditSeal, recordAct } from '../../audit/audit.ts'
import { type AuditRow, findAct } from '../../audit/queries.ts'
import type { DataConfig } from '../../config/config.ts'
import type { Database, Query, Tx } from '../../db/database.ts'
import { FileFault } from '../../kernel/problems.ts'
import type { Delivering } from '../../orders/delivery.ts'
import { markOf } from '../../orders/stock-queries.ts'
import { hasKey } from '../../orders/voucher-key.ts'
import { undoing } from '../../worlds/dry-run.ts'
import { dataError, reasonOf } from '../advice.ts'
import { refused } from '../exit.ts'
import type { Administration } from '../records/administration.ts'
import { Facts } from '../terminal/cells.ts'
import type { Result } from '../terminal/output.ts'
import type { OnProgress } from '../terminal/progress.ts'

/** Acts of operators (contract C20): a server performs them for commands, or a command that holds the folder itself. */

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
interface Asking {
  /** The text of the file that the command was given. */
  input: string
  note: (text: string) => void
  onProgress: OnProgress
}

/** What a command has changed, for the audit. */
interface Change {
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

export type Act = (acting: Acting, ...args: never[]) => Result | Promise<Result>

/** By the words of their commands. */
export type Acts = Readonly<Record<string, Act>>

/** It was asked for before, and the audit says what became of it. */
class KnownAct extends Error {
  constructor(readonly row: AuditRow) {
    super('known')
  }
}

/** Performs an act once, however often it is asked for. What it does, and what it refuses, is a row of the audit (contract C17). */
export const perform = async (performer: Performer, act: Act, asked: Asked, asking: Asking): Promise<Result> => {
  const { id, command, subject, user, args, isDryRun, refusal } = asked
  const { world, refresh } = performer
  let hasEffect = false
  const recordAs = (outcome: 'done' | 'refused', tx: Tx, change: Change, seal = auditSealOf(performer, tx)): void => {
    const who = { atMs: world.clock.nowMs(), user, address: null }
    recordAct(tx, seal, { ...change, ...who, command, subject, outcome, act: id })
    hasEffect = true
  }
  const once = async <T>(unit: (tx: Tx) => T): Promise<T> => {
    const done = await performer.write((tx) => {
      const row = findAct(tx, id)
      if (row) throw new KnownAct(row)
      return unit(tx)
    })
    if (hasEffect) refresh()
    return done
  }
  const write = isDryRun ? undoing(world, once) : once
  // Before the first client is there, so that a key never finds one without an act.
  if (!isDryRun && markOf(performer.query) === undefined) await once((tx) => auditSealOf(performer, tx))
  try {
    if (refusal !== undefined) throw refused(refusal)
    const record: Acting['record'] = (...change) => recordAs('done', ...change)
    const result = await act(
      { ...performer, ...asking, asked, write, record, withInput: inputOf(asking) },
      ...(args as never[]),
    )
    if (isDryRun) asking.note('Dry run: nothing was changed.')
    return result
  } catch (error) {
    if (error instanceof KnownAct) return becameOf(error.row, asking)
    // The operator sees the error even if it cannot be recorded.
    await write((tx) => recordAs('refused', tx, { after: { reason: reasonOf(error) } })).catch(() => undefined)
    throw error
  }
}

const inputOf =
  ({ input }: Asking): Acting['withInput'] =>
  async (file, work) => {
    try {
      return await work(input)
    } catch (error) {
      throw error instanceof FileFault ? dataError(error, file) : error
    }
  }

/** What the audit says of an act whose answer was lost. @throws ProgramError when it was refused */
const becameOf = ({ id, command, subject, outcome, before, after, act }: AuditRow, { note }: Asking): Result => {
  const facts = { before: before && new Facts(before), after: after && new Facts(after) }
  if (outcome === 'refused')
    throw refused(`${(JSON.parse(after ?? '{}') as { reason?: string }).reason}\nSee row ${id} of the audit.`)
  note(
    `The server ended before it had answered. The act was done, as row ${id} of the audit says. A password that it made is lost: rotate it.`,
  )
  return { audit: id, command, subject, ...facts, act }
}

/** Undefined before the first key of an installation. */
const auditSealOf = ({ config, delivering }: Performer, query: Query): AuditSeal | undefined =>
  markOf(query) === undefined && !hasKey(config) ? undefined : delivering.seals(query)
