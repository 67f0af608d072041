import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { withoutCounters } from '../http/dry-runs.ts'
import { run } from '../program.ts'
import { blocksOf, documentText, hasShell, withScrip } from './documents.ts'
import { asOperator, Customer, type Operator } from './live.ts'

/** Dry runs of the executable (contract C19): of commands, and how an operator sees those of clients. */

const databaseOf = ({ dataDir }: Operator): Uint8Array => withoutCounters(readFileSync(join(dataDir, 'scrip.sqlite')))

describe('--dry-run', () => {
  test('shows the result of every command that moves money, and leaves the database as it was', () =>
    asOperator(async (operator) => {
      const { server, customer } = await operator.trading()
      const sold = await customer.order(1, 2)
      const waiting = await customer.order(2, 1)
      const [open, other] = [await customer.payout('p-1'), await customer.payout('p-2')]
      await server.stop()
      await operator.json('payouts', 'advance', other.id, '--to', 'completed')
      const moves = (verb: string, amount: string, balance: string) =>
        `Wallet 1 of acme ${verb} ${amount} USD. Its balance is then ${balance} USD.\n`
      const commands: [command: string[], result: object, moved?: string][] = [
        [['orders', 'deliver', `${waiting.id}`], { id: waiting.id, status: 'DELIVERED' }],
        [
          ['orders', 'fail', `${waiting.id}`],
          { id: waiting.id, status: 'FAILED' },
          moves('receives', '12.25', '777.50'),
        ],
        [
          ['orders', 'refund', `${sold.id}`, '--vouchers', '1-1'],
          { id: sold.id, refunded_amount: 9.75 },
          moves('receives', '9.75', '775.00'),
        ],
        [['payouts', 'advance', open.id], { id: open.id, status: 'queued' }],
        [['payouts', 'cancel', open.id], { id: open.id, status: 'cancelled' }, moves('receives', '101.50', '866.75')],
        [['payouts', 'return', other.id], { id: other.id, returned: true }, moves('receives', '100.00', '865.25')],
        [['wallet', 'fund', '1', '500'], { id: 1 }, moves('receives', '500.00', '1,265.25')],
        [['wallet', 'adjust', '1', '-12.50'], { id: 1 }, moves('pays', '12.50', '752.75')],
      ]
      const audited = await operator.json<object[]>('audit', 'list')
      const wallet = await operator.json('wallet', 'list')
      for (const [command, result, moved = ''] of commands) {
        const before = databaseOf(operator)
        const dryRun = await operator.run([...command, '--dry-run'])
        expect({ command, exitCode: dryRun.exitCode, stderr: dryRun.stderr }).toEqual({
          command,
          exitCode: 0,
          stderr: `${moved}Dry run: nothing was changed.\n`,
        })
        expect(await operator.json(...command, '--dry-run')).toMatchObject(result)
        expect(databaseOf(operator)).toEqual(before)
      }
      const refused = await operator.run(['payouts', 'fail', open.id, '--dry-run'])
      expect([refused.exitCode, refused.stdout]).toEqual([1, ''])
      expect(refused.stderr).toContain(`payout ${open.id} is created, and cannot be changed like this`)
      // Refused acts are audited; dry runs are not.
      expect(await operator.json<object[]>('audit', 'list')).toEqual(audited)
      expect(await operator.json('wallet', 'list')).toEqual(wallet)
      expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
      // The dry run shows the effect of the real one.
      const [adjust] = commands.flatMap(([command]) => (command.includes('adjust') ? [command] : []))
      const dryRun = await operator.json(...(adjust ?? []), '--dry-run')
      expect(await operator.json(...(adjust ?? []))).toEqual(dryRun)
    }))
})

describe('a dry run of a client in live mode', () => {
  test('gives no code away, leaves the stock, and is marked in the log and the metrics', () =>
    asOperator(async (operator) => {
      const credentials = await operator.stocked()
      const port = String(await freePort())
      const server = await operator.serve('--log-format', 'json', '--log-level', 'info', '--metrics-port', port)
      const customer = await Customer.of(server, credentials)
      const init = {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.pair.access_token}`, 'x-dry-run': 'true' },
      }
      const body = JSON.stringify({ product_id: 1, denomination: 10, quantity: 3 })
      for (let time = 0; time < 3; time++) {
        const response = await server.request('/api/v1/orders', { ...init, body })
        const text = await response.text()
        expect([response.status, response.headers.get('x-dry-run'), text.includes('TEA-')]).toEqual([
          200,
          'true',
          false,
        ])
        expect(JSON.parse(text)).toMatchObject({
          status: 'DELIVERED',
          vouchers: Array(3).fill({ card_number: 'XXXX', pin_code: 'XXXX', claim_url: null }),
        })
      }
      expect(await customer.wallet()).toEqual([1000, 0])
      expect(await customer.read<object[]>('/events?type=order.*')).toEqual([])
      await customer.order(1, 3)
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      const counts = metrics.split('\n').filter((line) => /_count\{.*"\/api\/v1\/orders"/.test(line))
      expect(counts.map((line) => [line.includes('dry_run="true"'), line.split(' ').at(-1)])).toEqual([
        [true, '3'],
        [false, '1'],
      ])
      const { stderr } = await server.stop()
      const lines = stderr.split('\n').filter((line) => line.includes('/api/v1/orders'))
      expect(lines.map((line) => (JSON.parse(line) as { dry_run?: true }).dry_run)).toEqual([
        true,
        true,
        true,
        undefined,
      ])
      expect(await operator.run(['verify'])).toMatchObject({ exitCode: 0 })
    }))
})

test.skipIf(!hasShell)('dry-run.sh of the guide prints what the guide says', () =>
  withScrip(async (cwd, env) => {
    const blocks = blocksOf(documentText('docs/use/clients.md'))
    const script = blocks.find(({ file }) => file === 'dry-run.sh')?.text ?? ''
    writeFileSync(join(cwd, 'dry-run.sh'), script)
    const { exitCode, stdout } = await run(['run', '--', 'sh', 'dry-run.sh'], { cwd, env })
    expect(exitCode).toBe(0)
    const shown = blocks.find(({ text }) => text.startsWith('scrip run -- sh dry-run.sh'))?.text.split('\n')[1]
    expect(stdout.trim()).toBe(shown ?? '')
  }),
)
