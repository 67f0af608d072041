import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { commandLine } from '../../src/commands/command-line.ts'
import { launch, login, run, start } from '../program.ts'
import { codesOf, type Operator, operatorTest } from './live.ts'

/** Standard output on a full disk, and one that nobody reads (contract C1). */

const TO_A_FULL_DISK = ['sh', '-c', 'exec "$@" > /dev/full', 'sh']
/** Bash waits for the reader of a pipe to end before it starts the command. */
const TO_NOBODY = ['bash', '-c', 'exec 3> >(exec true); wait $!; exec "$@" >&3', 'bash']
const NO_ROOM = 'scrip: standard output cannot be written: no space left on device'

/** Commands that act on a data folder with a client, a wallet and codes, and what each says that it did. */
const ACTS: readonly [args: string, done: string][] = [
  ['client add zeta', 'client_id 2, username zeta. The password is lost: scrip client rotate zeta makes a new one'],
  ['client rotate acme', 'client_id 1, username acme. The password is lost: scrip client rotate acme makes a new one'],
  ['client rename zeta eta', 'client_id 2, username eta, status enabled, '],
  ['client disable eta', 'client_id 2, username eta, status disabled, '],
  ['client enable eta', 'client_id 2, username eta, status enabled, '],
  ['client feature eta vouchers off', 'client_id 2, username eta, status enabled, vouchers false, '],
  ['client limits eta --max-quantity 5', 'username eta, max_quantity 5, rate_limit default, '],
  ['client fees eta --payout-fee 1', 'username eta, '],
  ['client discount acme 1 5', 'username acme, product_id 1, product Tea, discount 5'],
  ['client remove eta', 'client_id 2, username eta, status removed'],
  ['wallet add acme EUR', 'id 2, client acme, currency EUR, amount 0.00, '],
  ['wallet fund 1 7', 'id 1, client acme, currency USD, amount 1007.00, '],
  ['wallet adjust 1 -7', 'id 1, client acme, currency USD, amount 1000.00, '],
  ['wallet threshold 1 5', 'id 1, client acme, '],
  ['wallet default 1', 'id 1, client acme, '],
  ['wallet close 2', 'id 2, client acme, '],
  ['catalog import FILES/catalog.json', ''],
  ['vouchers import FILES/codes.jsonl', 'imported 1'],
  ['vouchers rekey', ''],
  ['rates set USD/EUR=0.9', 'base USD, currency EUR, rate 0.9'],
  ['backup FILES/copy.sqlite', 'file FILES/copy.sqlite, bytes '],
  ['restore FILES/copy.sqlite --force', 'data_dir FILES/data, restored_from FILES/copy.sqlite, '],
]

/** Commands that only print. */
const READS = [
  ...['client list', 'client show acme', 'client discounts acme', 'wallet list', 'vouchers list', 'rates list'],
  ...['orders list', 'payouts list', 'beneficiary list', 'webhooks list', 'transactions', 'audit list'],
  'ledger --format hledger',
  ...['statement acme --month 2026-11', 'reconcile acme FILES/none.csv', 'verify --verbose', 'catalog export -'],
  ...['serve --check --mode live', 'desk --desk-port 0', 'catalog import FILES/catalog.json --dry-run'],
]
const READS_NO_DATA = [
  ...['--help', 'client --help', '--version', 'version', 'docs', 'docs live', 'completion bash', 'catalog schema'],
  ...['catalog init', 'catalog validate FILES/catalog.json', 'openapi', 'openapi --as postman', 'help wallet'],
]
/** Commands that ask a running sandbox. */
const ASKS = ['health', 'wait', 'trigger payout.failed', 'listen', 'requests list', 'requests show 1', 'requests tail']

/** Commands whose output is tested by others: a step of a record is an act like any other. */
const OTHERS = [
  ...[
    'serve',
    'run',
    'compare',
    'mcp',
    'wallet limit',
    'wallet show',
    'catalog edit',
    'orders show',
    'orders deliver',
    'orders fail',
  ],
  ...['orders refund', 'payouts show', 'payouts advance', 'payouts fail', 'payouts cancel', 'payouts return'],
  ...['beneficiary show', 'beneficiary erase', 'webhooks deliveries', 'webhooks redeliver', 'webhooks disable'],
  ...['webhooks show', 'transactions show', 'audit show'],
  ...['postgres init', 'postgres status'],
]

const prepared = async (operator: Operator): Promise<(line: string) => string[]> => {
  await operator.stocked()
  operator.file('codes.jsonl', codesOf(1, 'NEW-1'))
  operator.file('none.csv', 'reference,type,amount,currency\nX,order,1,USD\n')
  const exported = await operator.run(['catalog', 'export', '-'])
  writeFileSync(`${operator.folder}/catalog.json`, exported.stdout)
  return (line) => line.replaceAll('FILES', operator.folder).split(' ')
}

describe('standard output that has no room', () => {
  operatorTest('ends an act with 1 and one line, which says what was done and no secret', async (operator) => {
    const argsOf = await prepared(operator)
    for (const [line, done] of ACTS) {
      const { exitCode, stderr } = await operator.run(argsOf(line), { through: TO_A_FULL_DISK })
      const path = /^(?:backup|restore|\w+ \w+)/.exec(line)?.[0]
      expect({ line, exitCode, stderr }).toEqual({ line, exitCode: 1, stderr: expect.stringMatching(/^[^\n]+\n$/) })
      expect(stderr).toStartWith(`${NO_ROOM}. scrip ${path} was done: ${done.replaceAll('FILES', operator.folder)}`)
    }
    const funded = await operator.json<{ amount: number }[]>('wallet', 'list')
    expect(funded.map(({ amount }) => amount).sort()).toEqual([0, 1000])
    const restores = await operator.json<object[]>('audit', 'list', '--status', 'refused')
    expect(restores).toEqual([])
  })

  operatorTest('ends a dry run with 1, and says that nothing was done', async (operator) => {
    await operator.stocked()
    const ended = await operator.run(['wallet', 'fund', '1', '7', '--dry-run'], { through: TO_A_FULL_DISK })
    expect(ended.exitCode).toBe(1)
    expect(ended.stderr).toStartWith(`${NO_ROOM}. scrip wallet fund would do this: id 1, client acme, currency USD, `)
  })

  operatorTest('ends an act on each record that a file names in the same way', async (operator) => {
    const { server, customer } = await operator.trading()
    const paid = await Promise.all(['P-1', 'P-2'].map((reference) => customer.payout(reference)))
    const file = operator.file('paid.txt', paid.map(({ id }) => `${id}\n`).join(''))
    const ended = await operator.run(['payouts', 'advance', '--file', file], { through: TO_A_FULL_DISK })
    expect(ended.exitCode).toBe(1)
    const [line = '', ...others] = ended.stderr.split('\n')
    expect(others).toEqual([''])
    expect(line).toStartWith(`${NO_ROOM}. scrip payouts advance was done: id ${paid[0]?.id}, `)
    expect(line).toContain(`; id ${paid[1]?.id}, `)
    await server.stop()
  })

  operatorTest('ends every command that only prints with 1 and one line', async (operator) => {
    const argsOf = await prepared(operator)
    for (const line of READS) {
      const { exitCode, stderr } = await operator.run(argsOf(line), { through: TO_A_FULL_DISK })
      expect({ line, exitCode, stderr }).toEqual({ line, exitCode: 1, stderr: `${NO_ROOM}\n` })
    }
    for (const line of READS_NO_DATA) {
      const { exitCode, stderr } = await run(argsOf(line), { through: TO_A_FULL_DISK })
      expect({ line, exitCode, stderr }).toEqual({ line, exitCode: 1, stderr: `${NO_ROOM}\n` })
    }
  })

  test('ends commands that ask a sandbox with 1, and leaves no webhook of scrip listen there', async () => {
    await using server = await start()
    for (const line of ASKS) {
      const { exitCode, stderr } = await run([...line.split(' '), '--url', server.url], { through: TO_A_FULL_DISK })
      const done = line.startsWith('trigger') ? /\. The event evt_\w+ was published\n$/ : /device\n$/
      expect({ line, exitCode, stderr }).toEqual({ line, exitCode: 1, stderr: expect.stringMatching(done) })
      expect(stderr).toStartWith(NO_ROOM)
      expect(stderr).not.toContain('whsec_')
    }
    expect(await (await server.request('/_sandbox/webhooks')).json()).toEqual([])
    const compared = await run(['compare', server.url, '--json'], { through: TO_A_FULL_DISK })
    expect(compared).toEqual({ exitCode: 1, stdout: '', stderr: `${NO_ROOM}\n` })
  })

  const INITIALIZE = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  })

  test('ends scrip requests tail with 1 also at a later request', async () => {
    await using server = await start()
    expect((await server.request('/_sandbox/worlds/quiet', { method: 'PUT' })).status).toBe(200)
    const tail = launch(['requests', 'tail', '--world', 'quiet', '--url', server.url], { through: TO_A_FULL_DISK })
    const ended = tail.ended.then(() => true)
    while (!(await Promise.race([ended, Bun.sleep(100)]))) await login(server, 'sbx_quiet')
    expect(await tail.ended).toMatchObject({ exitCode: 1, stderr: `${NO_ROOM}\n` })
  })

  test('ends scrip mcp with 1 at its first response', async () => {
    const { exitCode, stderr } = await run(['mcp'], {
      through: ['sh', '-c', `echo '${INITIALIZE}' | "$@" > /dev/full`, 'sh'],
    })
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `${NO_ROOM}\n` })
  })

  test('does not stop a server, which says its address on standard error', async () => {
    const server = launch(['serve', '--port', '0'], { through: TO_A_FULL_DISK })
    await server.logged('standard output cannot be written: no space left on device url=http://127.0.0.1:')
    const url = /url=(\S+)/.exec(server.log())?.[1] ?? ''
    expect((await fetch(`${url}/status`)).status).toBe(200)
    process.kill(server.pid, 'SIGTERM')
    expect(await server.ended).toMatchObject({ exitCode: 0 })
  })

  test('has 1 as its exit code even if standard error has no room either', async () => {
    const through = ['sh', '-c', 'exec "$@" > /dev/full 2>&1', 'sh']
    expect(await run(['version'], { through })).toEqual({ exitCode: 1, stdout: '', stderr: '' })
  })
})

describe('standard output whose reader has gone', () => {
  operatorTest('is not an error of any command', async (operator) => {
    const argsOf = await prepared(operator)
    const found: Record<string, number> = { 'reconcile acme FILES/none.csv': 1 } // the list differs
    for (const line of [...ACTS.map(([args]) => args), ...READS.filter((each) => !each.startsWith('desk'))]) {
      const { exitCode, stderr } = await operator.run(argsOf(line), { through: TO_NOBODY })
      expect({ line, exitCode, stderr }).toEqual({ line, exitCode: found[line] ?? 0, stderr: expect.any(String) })
      expect(stderr).not.toMatch(/standard output|EPIPE|\bat /)
    }
    for (const line of READS_NO_DATA)
      expect({ line, ...(await run(argsOf(line), { through: TO_NOBODY })) }).toMatchObject({
        line,
        exitCode: 0,
        stderr: '',
      })
  })

  test('ends scrip listen, which removes its webhook', async () => {
    await using server = await start()
    const ended = await run(['listen', '--url', server.url], { through: TO_NOBODY })
    expect(ended).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect(await (await server.request('/_sandbox/webhooks')).json()).toEqual([])
  })
})

test('these tests know every command', async () => {
  const known = [...ACTS.map(([line]) => line), ...READS, ...READS_NO_DATA, ...ASKS, ...OTHERS]
  const isKnown = (path: string): boolean => known.some((line) => line === path || line.startsWith(`${path} `))
  expect(pathsBelow(await commandLine({})).filter((path) => !isKnown(path))).toEqual([])
})

const pathsBelow = ({ commands }: Command, above = ''): string[] =>
  commands.flatMap((command) => {
    const path = above + command.name()
    return command.commands.length > 0 ? pathsBelow(command, `${path} `) : [path]
  })
