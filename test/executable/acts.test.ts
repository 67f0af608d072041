import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'
import type { Command } from 'commander'
import { commandLine } from '../../src/commands/command-line.ts'
import { operatorTest } from './live.ts'

/** Every command of live mode either only reads, or has a row in the audit, also when it is refused (contract C17). */

const READING = [
  ...['client list', 'client show', 'client discounts', 'wallet list', 'vouchers list', 'rates list', 'audit list'],
  ...['wallet show', 'webhooks show', 'audit show'],
  ...['postgres status', 'reconcile', 'catalog schema', 'catalog init', 'catalog validate', 'catalog export'],
  ...['orders list', 'orders show', 'payouts list', 'payouts show', 'beneficiary list', 'beneficiary show'],
  ...['webhooks list', 'webhooks deliveries', 'transactions show', 'statement', 'ledger', 'verify', 'desk'],
]

/** The arguments of each command that acts; most of them are refused. */
const ACTING: Record<string, string[]> = {
  'client add': ['acme'],
  'client rotate': ['nobody'],
  'client rename': ['nobody', 'somebody'],
  'client remove': ['nobody'],
  'client disable': ['nobody'],
  'client enable': ['nobody'],
  'client feature': ['nobody', 'vouchers', 'on'],
  'client limits': ['nobody', '--max-quantity', '1'],
  'client fees': ['nobody', '--payout-fee', '1'],
  'client discount': ['nobody', '1', '1'],
  'wallet add': ['nobody', 'USD'],
  'wallet fund': ['99', '1'],
  'wallet adjust': ['99', '1'],
  'wallet threshold': ['99', '1'],
  'wallet limit': ['99', '1'],
  'wallet default': ['99'],
  'wallet close': ['99'],
  'catalog import': ['/none'],
  'catalog edit': ['99', '--active', 'off'],
  'vouchers import': ['/none'],
  'vouchers rekey': [],
  'rates set': [],
  'orders deliver': ['99'],
  'orders fail': ['99'],
  'orders refund': ['99'],
  'payouts advance': ['none'],
  'payouts fail': ['none'],
  'payouts cancel': ['none'],
  'payouts return': ['none'],
  'beneficiary erase': ['ben_0'],
  'webhooks redeliver': ['none'],
  'webhooks disable': ['none'],
  'postgres init': [],
  backup: ['/none/backup.sqlite'],
  restore: ['/none'],
}

const leavesOf = (command: Command, above: string[] = []): string[] => {
  const path = [...above, command.name()]
  return command.commands.length === 0 ? [path.join(' ')] : command.commands.flatMap((one) => leavesOf(one, path))
}

operatorTest('every command of live mode reads, or is in the audit', async (operator) => {
  const live = (await commandLine({})).commands.filter((command) => command.helpGroup() === 'Run live mode:')
  expect(live.flatMap((command) => leavesOf(command)).sort()).toEqual([...READING, ...Object.keys(ACTING)].sort())
  await operator.stocked()
  const sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'))
  const rows = () =>
    sqlite.query<{ command: string; outcome: string }, []>('SELECT command, outcome FROM audit ORDER BY id').all()
  const before = rows().length
  const lines = Object.entries(ACTING).map(([command, args]) => [...command.split(' '), ...args])
  const all = lines.map((line) => [...line, '--data-dir', operator.dataDir])
  // From the sources, in one process.
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'run-all.ts'), JSON.stringify(all)], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await child.exited
  const recorded = rows().slice(before)
  sqlite.close()
  expect(recorded.map(({ command }) => command)).toEqual(Object.keys(ACTING))
  expect(recorded.filter(({ outcome }) => outcome === 'done').map(({ command }) => command)).toEqual(['vouchers rekey'])
  expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
})
