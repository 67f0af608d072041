import type { Command } from 'commander'
import { type AuditSeal, recordAct } from '../../audit/audit.ts'
import { operatorName } from '../../config/environment.ts'
import type { Query, Tx } from '../../db/database.ts'
import { markOf } from '../../orders/stock-queries.ts'
import { hasKey } from '../../orders/voucher-key.ts'
import type { Needs } from '../../record/command.ts'
import { rehearsing } from '../../worlds/rehearsal.ts'
import { reasonOf } from '../advice.ts'
import { note, type Result } from '../terminal/output.ts'
import { type Administration, administer, pathOf } from './administration.ts'

/** What a command has changed, for the audit. */
interface Change {
  before?: object | undefined
  after?: object | undefined
}

export interface Acting extends Administration {
  /** Called in the transaction of the effect. By default, the seal of the data folder. */
  record: (tx: Tx, change: Change, seal?: AuditSeal) => void
}

/**
 * The action of a command that changes something or exports data: what it does, and what it refuses, is a row of the
 * audit (contract C17). The sandbox has no audit.
 */
export const act = <Args extends unknown[]>(
  work: (acting: Acting, ...args: Args) => Result | Promise<Result>,
  needs: Needs = 'write',
) =>
  async function (this: Command, ...args: Args): Promise<void> {
    const named = { command: pathOf(this), subject: this.args.join(' '), address: null }
    const { dryRun: isRehearsal = false } = this.opts<{ dryRun?: boolean }>()
    await administer(async (data: Administration, ...given: Args) => {
      const { config, world, isSandbox } = data
      const recordAs = (outcome: 'done' | 'refused', tx: Tx, change: Change, seal = auditSealOf(data, tx)): void => {
        if (isSandbox) return
        recordAct(tx, seal, { ...named, ...change, atMs: world.clock.nowMs(), user: operatorName(), outcome })
      }
      const write = isRehearsal ? rehearsing(world, data.write) : data.write
      // Before the first client is there, so that a key never finds one without an act.
      if (!isSandbox && !isRehearsal && markOf(data.query) === undefined)
        await data.write((tx) => auditSealOf(data, tx))
      try {
        const result = await work({ ...data, write, record: (...change) => recordAs('done', ...change) }, ...given)
        if (isRehearsal) note('Rehearsed: nothing was changed.', config.format)
        return result
      } catch (error) {
        // The operator sees the error even if it cannot be recorded.
        await write((tx) => recordAs('refused', tx, { after: { reason: reasonOf(error) } })).catch(() => undefined)
        throw error
      }
    }, needs).call(this, ...args)
  }

/** Undefined before the first key of an installation. */
const auditSealOf = ({ config, delivering }: Administration, query: Query): AuditSeal | undefined =>
  markOf(query) === undefined && !hasKey(config) ? undefined : delivering.seals(query)
