import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../program.ts'

/** `scrip scenario` and `--scenario` (contracts C1 and C15). */

const scrip = (...args: string[]) => run(args)
const folder = mkdtempSync(join(tmpdir(), 'scrip-scenario-'))
afterAll(() => rmSync(folder, { recursive: true }))
const fileOf = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

describe('scrip scenario', () => {
  test('list names ten, with what they are for', async () => {
    const { exitCode, stdout } = await scrip('scenario', 'list', '--json')
    expect(exitCode).toBe(0)
    const rows = JSON.parse(stdout) as { name: string; description: string }[]
    expect(rows).toHaveLength(10)
    for (const { name, description } of rows) expect([name, description]).toEqual([name, expect.stringMatching(/\.$/)])
  })

  test('show prints one that --scenario takes as a file', async () => {
    const { stdout } = await scrip('scenario', 'show', 'refunds')
    const file = fileOf('refunds.yaml', stdout)
    const command = 'curl -sS "$SCRIP_URL/_sandbox/scenario"'
    const [named, filed] = await Promise.all(
      ['refunds', file].map((given) => scrip('run', '--seed', 'same', '--scenario', given, '--', 'sh', '-c', command)),
    )
    expect(named?.exitCode).toBe(0)
    const orders = (text = '') => (JSON.parse(text) as { orders: { id: number; status: string }[] }).orders
    expect(orders(filed?.stdout).map(({ status }) => status)).toEqual(['FAILED', 'CANCELLED'])
    expect(orders(named?.stdout).map(({ id }) => id)).toEqual([1, 2])
  })

  test('schema prints the JSON Schema', async () => {
    const { stdout } = await scrip('scenario', 'schema')
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Scrip scenario', properties: { orders: {}, payouts: {} } })
  })

  test('exit 2 for a name that there is not', async () => {
    expect(await scrip('scenario', 'show', 'nothing')).toMatchObject({ exitCode: 2, stdout: '' })
  })
})

describe('--scenario', () => {
  test('exit 4 lists every problem of the file, with its line', async () => {
    const file = fileOf(
      'bad.yaml',
      'orders:\n  - { product_id: 999999, denomination: 1, quantity: 1 }\nwallets:\n  - { currency: XXX }\n',
    )
    const { exitCode, stderr, stdout } = await scrip('serve', '--port', '0', '--scenario', file)
    expect([exitCode, stdout]).toEqual([4, ''])
    expect(stderr).toContain(file)
    expect(stderr).toContain('line 2, /orders/0/product_id: the catalog has no product 999999')
    expect(stderr).toContain('line 4, /wallets/0/currency: unknown currency XXX')
  })

  test.each([
    ['a fault that can never strike', 'faults: [{ error: nothing }]', '/faults/0/error'],
    ['no YAML', 'orders: [', 'not YAML'],
  ])('exit 4 for %s', async (_, text, what) => {
    const { exitCode, stderr } = await scrip('serve', '--port', '0', '--scenario', fileOf('bad.yaml', text))
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining(what)])
  })

  test('exit 4 for a file that cannot be read', async () => {
    expect(await scrip('serve', '--port', '0', '--scenario', './no-such.yaml')).toMatchObject({ exitCode: 4 })
  })

  test('exit 2 for an unknown name, which says how the name of a file looks', async () => {
    const { exitCode, stderr } = await scrip('serve', '--port', '0', '--scenario', 'busymonth')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('./busymonth')])
  })

  test('exit 2 together with --snapshot, and in live mode', async () => {
    const both = await scrip('serve', '--port', '0', '--scenario', 'refunds', '--snapshot', 'x.json')
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('--snapshot')])
    const live = await scrip('serve', '--mode', 'live', '--data-dir', join(folder, 'live'), '--scenario', 'refunds')
    expect([live.exitCode, live.stderr]).toEqual([
      2,
      expect.stringContaining('--scenario is not available in live mode'),
    ])
  })
})
