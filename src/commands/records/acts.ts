import type { Command } from 'commander'
import { recordAct } from '../../audit/audit.ts'
import { operatorName } from '../../config/environment.ts'
import type { Tx } from '../../db/database.ts'
import type { Result } from '../terminal/output.ts'
import { type Administration, administer, reasonOf } from './administration.ts'

/** What a command has changed, for the audit. */
export interface Change {
  before?: object | undefined
  after?: object | undefined
}

export interface Acting extends Administration {
  /** Called in the transaction of the effect. */
  record: (tx: Tx, change: Change) => void
}

/**
 * The action of a command that changes something, or takes data out: what it does and what it refuses is a row of the
 * audit (contract C17). The sandbox has no audit.
 */
export const act = <Args extends unknown[]>(work: (acting: Acting, ...args: Args) => Result | Promise<Result>) =>
  async function (this: Command, ...args: Args): Promise<void> {
    const named = { command: pathOf(this), subject: this.args.join(' ') }
    await administer(async (administration: Administration, ...given: Args) => {
      const { world, isSandbox, write } = administration
      const recorder =
        (outcome: 'done' | 'refused') =>
        (tx: Tx, change: Change): void => {
          if (isSandbox) return
          recordAct(tx, {
            ...named,
            ...change,
            atMs: world.clock.nowMs(),
            user: operatorName(),
            outcome,
            address: null,
          })
        }
      try {
        return await work({ ...administration, record: recorder('done') }, ...given)
      } catch (error) {
        // What cannot be written down now is shown to the operator all the same.
        await write((tx) => recorder('refused')(tx, { after: { reason: reasonOf(error) } })).catch(() => undefined)
        throw error
      }
    }).call(this, ...args)
  }

const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
