import { Database as SqliteDatabase } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { folderTest, run } from '../program.ts'
import { Customer, type Operator, stockedTest } from './live.ts'

/** An upgrade is a restart, tried on a copy of the data folder first (contract C17). */

const check = (operator: Operator, ...flags: string[]) => operator.run(['serve', '--mode', 'live', '--check', ...flags])

const edit = ({ dataDir }: Operator, sql: string): void => {
  using sqlite = new SqliteDatabase(join(dataDir, 'scrip.sqlite'))
  sqlite.run(sql)
}

describe('scrip serve --check', () => {
  stockedTest('opens and verifies a copy beside a server, and leaves nothing behind', async (operator, credentials) => {
    await using server = await operator.serve('--port', '0')
    const customer = await Customer.of(server, credentials)
    const before = readdirSync(operator.dataDir)
    expect(await check(operator, '--port', String(server.port))).toEqual({
      exitCode: 0,
      stdout: `${operator.dataDir} can be served by this release.\n`,
      stderr: '',
    })
    expect(readdirSync(operator.dataDir)).toEqual(before)
    expect(await customer.order(1, 1)).toMatchObject({ status: 'DELIVERED' })
  })

  stockedTest('exits with 4 for whatever would keep a server from starting, and names it', async (operator) => {
    const bad = operator.file('bad.json', 'no JSON')
    const refused = async (...flags: string[]) => {
      const { exitCode, stdout, stderr } = await check(operator, ...flags)
      expect(readdirSync(operator.dataDir).filter((name) => name.startsWith('.'))).toEqual([])
      return { exitCode, stdout, stderr }
    }
    expect(await refused('--catalog', bad)).toEqual({ exitCode: 4, stdout: '', stderr: expect.stringContaining(bad) })
    edit(operator, 'UPDATE wallets SET amount_minor = amount_minor + 1')
    expect(await refused()).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: expect.stringMatching(/^scrip: the data is not sound: wallet 1\b.*\nSee scrip verify.\n$/),
    })
    edit(operator, 'CREATE TABLE foreign_one (id INTEGER)')
    expect(await refused()).toMatchObject({ exitCode: 4, stderr: expect.not.stringContaining('.scrip-draft-') })
  })

  folderTest('creates no folder, and has no meaning in the sandbox', async (folder) => {
    const missing = join(folder, 'missing')
    expect(await run(['serve', '--mode', 'live', '--check', '--data-dir', missing])).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: `scrip: ${missing} does not exist\nCheck its name and its folder.\n`,
    })
    expect(readdirSync(folder)).toEqual([])
    expect(await run(['serve', '--check'])).toMatchObject({ exitCode: 2, stdout: '' })
  })
})

test('--take-over is an unknown flag', async () => {
  const { exitCode, stderr } = await run(['serve', '--take-over'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("unknown option '--take-over'") })
})
