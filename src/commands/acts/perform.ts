import { createHmac } from 'node:crypto'
import type { Act, Acting, ActRequest, ActResult, Asking, Change, Performer } from '../../acts/act.ts'
import { StoredJson } from '../../acts/cells.ts'
import { fileOf } from '../../acts/fields.ts'
import { type AuditSeal, recordAct } from '../../audit/audit.ts'
import { type AuditRow, actsAbout, findAct } from '../../audit/queries.ts'
import type { Query, Tx } from '../../db/database.ts'
import { refused } from '../../kernel/exit.ts'
import { FileFault } from '../../kernel/problems.ts'
import { markOf } from '../../orders/stock-queries.ts'
import { hasKey } from '../../orders/voucher-key.ts'
import { transactionsOf } from '../../wallets/statement-queries.ts'
import { causedBy } from '../../work/cause.ts'
import { undoing } from '../../work/dry-run.ts'
import { reasonOf } from '../advice.ts'

/** Acts of operators (contract C20): a server performs them for commands, or a command that holds the folder itself. */

/** The act was requested before, and the audit has its result. */
class KnownAct extends Error {
  constructor(readonly row: AuditRow) {
    super('known')
  }
}

/** Performs an act once, however often it is requested. Its effect or its refusal is a row of the audit (contract C17). */
export const perform = async (
  performer: Performer,
  act: Act | undefined,
  request: ActRequest,
  asking: Asking,
): Promise<ActResult> => {
  const { id, command, subject, user, isDryRun, refusal } = request
  const { world, refresh } = performer
  const content = JSON.stringify([command, subject, request.input, asking.input])
  const requireNew = (query: Query): void => {
    const row = findAct(query, id)
    if (!row) return
    const isSame = row.requestSha256 === digestOf(content, auditSealOf(performer, query))
    throw isSame ? new KnownAct(row) : refused(usedBefore(row))
  }
  let hasEffect = false
  const recordAs = (outcome: 'done' | 'refused', tx: Tx, change: Change, seal = auditSealOf(performer, tx)): void => {
    const who = { atMs: world.clock.nowMs(), user, address: null }
    recordAct(tx, seal, {
      ...change,
      ...who,
      command,
      subject,
      outcome,
      act: id,
      requestSha256: digestOf(content, seal),
    })
    hasEffect = true
  }
  const once = async <T>(unit: (tx: Tx) => T): Promise<T> => {
    const done = await performer.write((tx) => {
      requireNew(tx)
      refuseOvertaken(tx, request)
      return causedBy(world, { act: id }, () => unit(tx))
    })
    if (hasEffect) refresh()
    return done
  }
  const dryRun = <T>(unit: (tx: Tx) => T) =>
    undoing(world, once)((tx) => reportingMovements(performer, asking, tx, unit))
  const write = isDryRun ? dryRun : once
  // The key exists before the first client, so that no client exists without an act in the audit.
  if (!isDryRun && markOf(performer.query) === undefined) await once((tx) => auditSealOf(performer, tx))
  try {
    if (refusal !== undefined) throw refused(refusal)
    const record: Acting['record'] = (...change) => recordAs('done', ...change)
    const paying = { reference: performer.reference, byClock: () => false }
    const acting = { ...performer, ...asking, paying, write, record }
    // An act may look for what it has removed itself, when it was done before.
    requireNew(performer.query)
    const result = (await act?.perform(acting, request.input)) ?? {}
    if (isDryRun) asking.note('Dry run: nothing was changed.')
    return result
  } catch (error) {
    if (error instanceof KnownAct) {
      if (error.row.outcome === 'done') await act?.complete?.(performer)
      return recordedResultOf(error.row, asking)
    }
    const file = act && fileOf(act.takes, request.input)
    const refusal = error instanceof FileFault && file !== undefined ? error.in(file) : error
    const recordRefusal = (tx: Tx): void => {
      requireNew(tx)
      recordAs('refused', tx, { after: { reason: reasonOf(refusal) } })
    }
    // The operator sees the error even if it cannot be recorded. A dry run leaves no row.
    if (!isDryRun) await performer.write(recordRefusal).catch(() => undefined)
    throw refusal
  }
}

/** Keyed, because a request can name a person whom it erases. */
const digestOf = (content: string, seal: AuditSeal | undefined): string =>
  createHmac('sha256', seal?.auditKey ?? '')
    .update(content)
    .digest('hex')

const usedBefore = ({ id, act, command, subject }: AuditRow): string =>
  `${act} is the id of another act: scrip ${command} ${subject}\nNothing was done. See row ${id} of the audit.`

/** @throws ProgramError if somebody else has changed the same record meanwhile */
const refuseOvertaken = (tx: Tx, { command, subject, seen }: ActRequest): void => {
  if (seen === undefined) return
  const [[group = ''], [about = '']] = [command.split(' '), subject.split(' ')]
  const [other] = actsAbout(tx, group, about, seen)
  if (other)
    throw refused(`${other.user} has done scrip ${other.command} ${other.subject} in the meantime\nReview it first.`)
}

/** Reports the money that a dry run would move. */
const reportingMovements = <T>(performer: Performer, { note }: Asking, tx: Tx, unit: (tx: Tx) => T): T => {
  const [last] = transactionsOf(tx, { newestFirst: true, limit: 1 })
  const result = unit(tx)
  for (const made of transactionsOf(tx, { newestFirst: true, limit: MOVED_MAX })) {
    if (made.id <= (last?.id ?? 0)) break
    const { walletId, clientId, amountMinor, balanceAfterMinor } = made
    const [moved, balance] = [amountMinor, balanceAfterMinor].map(
      (minor) => performer.walletAmount(minor, walletId)?.words,
    )
    const verb = made.transactionType === 'CREDIT' ? 'receives' : 'pays'
    note(`Wallet ${walletId} of ${performer.clientName(clientId)} ${verb} ${moved}. Its balance is then ${balance}.`)
  }
  return result
}

/** An act moves the money of one order, payout or wallet. */
const MOVED_MAX = 100

/** The result of an act whose response was lost, from its audit row. @throws ProgramError if it was refused */
const recordedResultOf = (
  { id, command, subject, outcome, before, after, act }: AuditRow,
  { note }: Asking,
): ActResult => {
  const change = { before: before && new StoredJson(before), after: after && new StoredJson(after) }
  if (outcome === 'refused')
    throw refused(`${(JSON.parse(after ?? '{}') as { reason?: string }).reason}\nSee row ${id} of the audit.`)
  note(
    `The server stopped before it responded. The act was done: see row ${id} of the audit. If it created a password, that is lost: rotate it.`,
  )
  return { audit: id, command, subject, ...change, act }
}

/** Undefined before the first key of an installation. */
const auditSealOf = ({ config, delivering }: Performer, query: Query): AuditSeal | undefined =>
  markOf(query) === undefined && !hasKey(config) ? undefined : delivering.ciphers(query)
