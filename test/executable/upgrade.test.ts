import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { bearer, folderTest, run } from '../program.ts'
import { documentText } from './documents.ts'
import { force } from './forced.ts'
import { asOperator, Customer, type Operator, stockedTest } from './live.ts'

/** An upgrade is a restart, tried on a copy of the data folder first (contract C17). */

const check = (operator: Operator, ...flags: string[]) => operator.run(['serve', '--mode', 'live', '--check', ...flags])

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
    force(operator, 'UPDATE wallets SET amount_minor = amount_minor + 1')
    expect(await refused()).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: expect.stringMatching(/^scrip: the data is not sound: wallet 1\b.*\nSee scrip verify.\n$/),
    })
    force(operator, 'CREATE TABLE foreign_one (id INTEGER)')
    expect(await refused()).toMatchObject({ exitCode: 4, stderr: expect.not.stringContaining('.scrip-draft-') })
  })

  folderTest('creates no folder, and is not available in the sandbox', async (folder) => {
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

test.skipIf(!Bun.which('haproxy'))('no request fails during a restart behind the proxy of the guide', () =>
  asOperator(async (operator) => {
    const credentials = await operator.stocked()
    const [port, proxyPort] = [await freePort(), await freePort()]
    const config = documentText('docs/operate/proxies/haproxy.cfg')
    const file = operator.file(
      'haproxy.cfg',
      config.replace(/bind :.*/, `bind 127.0.0.1:${proxyPort}`).replace('127.0.0.1:4747', `127.0.0.1:${port}`),
    )
    const serve = () => operator.serve('--rate-limit', 'off', '--port', String(port))
    const server = await serve()
    const { pair } = await Customer.of(server, credentials)
    const proxy = Bun.spawn(['haproxy', '-f', file], { stdout: 'ignore', stderr: 'ignore' })
    let isOver = false
    const statuses = new Set<number>()
    const reading = async (): Promise<void> => {
      while (!isOver) {
        const response = await fetch(`http://127.0.0.1:${proxyPort}/api/v1/wallets`, bearer(pair)).catch(
          () => undefined,
        )
        statuses.add(response?.status ?? 0)
      }
    }
    while (!(await fetch(`http://127.0.0.1:${proxyPort}/livez`).catch(() => undefined))?.ok) await Bun.sleep(10)
    const readers = [reading(), reading(), reading()]
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
    const next = await serve()
    expect((await fetch(`http://127.0.0.1:${proxyPort}/api/v1/wallets`, bearer(pair))).status).toBe(200)
    isOver = true
    await Promise.all(readers)
    proxy.kill()
    await next.stop()
    expect([...statuses]).toEqual([200])
  }),
)
