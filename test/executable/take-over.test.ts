import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chownSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databasePath } from '../../src/db/data-folder.ts'
import { bearer, type Running, run, start } from '../program.ts'
import { FAILING_MIGRATION, nextSources } from '../rigs/next-release.ts'
import { Connection } from '../socket.ts'
import { Customer, Operator, operatorTest, stockedTest } from './live.ts'

/** A server takes over from a running one (contract C17, decision 76). */

const isLinux = process.platform === 'linux'

const flagsFor = ({ dataDir }: Operator): string[] => [
  'serve',
  '--mode',
  'live',
  '--data-dir',
  dataDir,
  '--port',
  '0',
  '--rate-limit',
  'off',
]
const takeOver = (operator: Operator, ...flags: string[]): Promise<Running> =>
  start([...flagsFor(operator), '--take-over', ...flags])

/** Ends a server that was taken over from before its time. */
const endOf = async (server: Running): Promise<void> => {
  const { exitCode, stderr } = await server.stop()
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('handed over') })
}

const getStatus = 'GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** A request without the end of its body: the server cannot hand over until it comes. */
const slowRequest = async (server: Running, customer: Customer) => {
  const { begin, end } = await slowConnection(server, customer)
  begin()
  await server.request('/status') // it has arrived
  return { end }
}

const slowConnection = async (server: Running, customer: Customer) => {
  const body = JSON.stringify({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })
  const head = ['POST /api/v1/beneficiaries HTTP/1.1', 'Host: localhost', `Content-Length: ${body.length}`]
  const connection = await Connection.open(server.url)
  const { authorization } = bearer(customer.pair).headers
  return {
    begin: () =>
      connection.send(`${[...head, `Authorization: ${authorization}`].join('\r\n')}\r\n\r\n${body.slice(0, 10)}`),
    end: async () => {
      connection.send(body.slice(10))
      return connection.response()
    },
  }
}

describe.skipIf(!isLinux)('scrip serve --take-over', () => {
  stockedTest(
    'serves where no server runs, then takes over from a server without failing a request',
    async (operator, credentials) => {
      const before = await takeOver(operator)
      const customer = await Customer.of(before, credentials)
      const idle = await Connection.open(before.url)
      idle.send(getStatus)
      expect((await idle.response()).headers).not.toContainKey('Connection')
      const charge = () => customer.post('/products/1/charges', { denomination: 10, quantity: 1 })
      const held = await (await charge()).text()
      const key = { 'Idempotency-Key': 'the-key-of-ada' }
      const person = JSON.stringify({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })
      const save = () => {
        const headers = { ...bearer(customer.pair).headers, ...key }
        return before.request('/api/v1/beneficiaries', { method: 'POST', headers, body: person })
      }
      const saved = await (await save()).text()

      let isOver = false
      let requests = 0
      const client = async (headers: Record<string, string>) => {
        while (!isOver) {
          const { status } = await before.request('/api/v1/wallets', {
            headers: { ...bearer(customer.pair).headers, ...headers },
          })
          expect(status).toBe(200)
          requests += 1
        }
      }
      const clients = [client({}), client({}), client({ Connection: 'close' }), client({ Connection: 'close' })]
      const after = await takeOver(operator)
      expect(after.url).toBe(before.url)
      isOver = true
      await Promise.all(clients)
      expect(requests).toBeGreaterThan(0)

      // A connection from before gets one more response, of the new server.
      idle.send(getStatus)
      expect(await idle.response()).toMatchObject({ status: 200, headers: { Connection: 'close' } })
      expect(await idle.closed()).toBe('')
      await endOf(before)
      const again = await charge()
      expect([again.headers.get('x-cache'), await again.text()]).toEqual(['HIT', held])
      const replayed = await save()
      expect([replayed.headers.get('idempotent-replayed'), await replayed.text()]).toEqual(['true', saved])
      expect(await after.stop()).toMatchObject({ exitCode: 0 })
      expect(readdirSync(operator.dataDir).filter((name) => name.includes('.sock'))).toEqual([])
    },
  )

  stockedTest('leaves nothing of what it tries on the copy', async (operator) => {
    const records = async () =>
      Promise.all(
        [['client'], ['wallet'], ['orders'], ['payouts'], ['beneficiary'], ['audit']].map(([group = '']) =>
          operator.json<{ id?: number }[]>(group, 'list'),
        ),
      )
    const before = await operator.serve('--rate-limit', 'off')
    const known = await records()
    const after = await takeOver(operator)
    expect(await records()).toEqual(known)
    await endOf(before)
    expect(await after.stop()).toMatchObject({ exitCode: 0 })
  })

  stockedTest('tries less on the copy where the rate limit allows less', async (operator) => {
    const before = await operator.serve('--rate-limit', '5/d')
    const after = await takeOver(operator, '--rate-limit', '5/d')
    await endOf(before)
    expect(await after.stop()).toMatchObject({ exitCode: 0 })
  })

  stockedTest('waits for a request whose body arrives slowly, and finishes it', async (operator, credentials) => {
    const before = await operator.serve('--rate-limit', 'off')
    const slow = await slowRequest(before, await Customer.of(before, credentials))
    const taking = takeOver(operator)
    await before.logged('handing over')
    const { status, headers } = await slow.end()
    expect([status, headers.Connection]).toEqual([201, 'close'])
    const after = await taking
    await endOf(before)
    expect(await after.stop()).toMatchObject({ exitCode: 0 })
  })

  operatorTest('serves when the server that hands over is killed', async (operator) => {
    const { server: before, customer } = await operator.trading('--rate-limit', 'off')
    await slowRequest(before, customer)
    const taking = takeOver(operator)
    await before.logged('handing over')
    // The kernel may close the port of a process that was killed last.
    const port = Bun.serve({ port: before.port, hostname: '127.0.0.1', reusePort: true, fetch: () => new Response() })
    before.signal('SIGKILL')
    const after = await taking
    await port.stop(true)
    expect((await after.request('/api/v1/wallets', bearer(customer.pair))).status).toBe(200)
    expect(await after.stop()).toMatchObject({ exitCode: 0 })
  })

  stockedTest('ends the hand-over when the server is stopped in the middle of it', async (operator, credentials) => {
    const before = await operator.serve('--rate-limit', 'off')
    const slow = await slowRequest(before, await Customer.of(before, credentials))
    const taking = takeOver(operator)
    await before.logged('handing over')
    before.signal('SIGTERM')
    expect((await slow.end()).status).toBe(201)
    const after = await taking
    expect(await before.ended()).toMatchObject({ exitCode: 0 })
    expect(await after.stop()).toMatchObject({ exitCode: 0 })
  })

  stockedTest('serves the metrics from then on, and the one before serves none', async (operator) => {
    const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const { port } = probe
    await probe.stop(true)
    const flags = ['--metrics-port', String(port)]
    const scrape = () => fetch(`http://127.0.0.1:${port}/metrics`)
    const before = await operator.serve('--rate-limit', 'off', ...flags)
    expect((await scrape()).status).toBe(200) // on a connection that is kept open
    const after = await takeOver(operator, ...flags)
    await before.logged('handed over')
    for (let number = 0; number < 20; number++) {
      const page = await scrape()
      expect(page.status).toBe(200)
      expect(await page.text()).toContain('\nscrip_backups_failed 0\n')
    }
    const { stderr } = await before.stop()
    expect(stderr).not.toContain('no metrics')
    await after.stop()
  })

  stockedTest(
    'lets no third one begin before the first has ended, whose last requests take long',
    async (operator, credentials) => {
      const first = await takeOver(operator)
      const customer = await Customer.of(first, credentials)
      const slow = await slowConnection(first, customer)
      const second = await takeOver(operator)
      slow.begin()
      first.signal('SIGTERM')
      await first.logged('stopping')
      using lock = new Database(join(operator.dataDir, 'take-over.lock'))
      for (let look = 0; look < 50; look++) {
        await second.request('/status')
        expect(() => lock.run('BEGIN EXCLUSIVE')).toThrow('locked')
      }
      expect(await slow.end()).toMatchObject({ status: 201 })
      expect(await first.ended()).toMatchObject({ exitCode: 0 })
      const third = await takeOver(operator)
      await endOf(second)
      expect(await third.stop()).toMatchObject({ exitCode: 0 })
    },
  )

  stockedTest('waits for another one that takes over, and takes over from that', async (operator, credentials) => {
    const before = await operator.serve('--rate-limit', 'off')
    const slow = await slowRequest(before, await Customer.of(before, credentials))
    const taking = [takeOver(operator), takeOver(operator)]
    await before.logged('handing over')
    expect((await slow.end()).status).toBe(201)
    const second = await Promise.race(taking)
    await endOf(before)
    const [one, other] = await Promise.all(taking)
    const third = second === one ? other : one
    await endOf(second)
    expect((await third?.request('/status'))?.status).toBe(200)
    expect((await third?.stop())?.exitCode).toBe(0)
  })
})

describe.skipIf(!isLinux)('a server that cannot take over leaves the other one serving', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-test-'))
  const operator = new Operator(folder)
  let server: Running
  let customer: Customer
  beforeAll(async () => {
    const credentials = await operator.stocked()
    server = await operator.serve('--rate-limit', 'off')
    customer = await Customer.of(server, credentials)
  })
  afterAll(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const refused = async (exitCode: number, words: string, ...flags: string[]): Promise<void> => {
    const ended = await run([...flagsFor(operator), '--take-over', ...flags])
    expect(ended).toEqual({ exitCode, stdout: '', stderr: expect.stringContaining(words) })
    await isServing()
  }
  const isServing = async (): Promise<void> => {
    expect((await customer.get('/wallets')).status).toBe(200)
    const person = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
    expect((await customer.post('/beneficiaries', person)).status).toBe(201)
  }
  /** A release after this one, from its sources. */
  const nextRelease = (name: string, ...migrations: string[]): readonly string[] => [
    process.execPath,
    nextSources(join(folder, name), migrations),
  ]

  test('because of a wrong flag', () => refused(2, '--seed is not available in live mode', '--seed', 'x'))

  test('because of another address', () =>
    refused(3, `the running server listens at ${server.url}\nTake over with the same --host`, '--host', '::1'))

  test('because of a file that is no catalog', () =>
    refused(4, 'bad.json', '--catalog', operator.file('bad.json', 'no JSON')))

  operatorTest('because the database is damaged', async (damaged) => {
    await damaged.stocked()
    await using before = await damaged.serve()
    const path = databasePath(damaged.dataDir)
    const half = statSync(path).size >> 1
    truncateSync(path, half)
    truncateSync(path, half * 2)
    expect(await run([...flagsFor(damaged), '--take-over'])).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: `scrip: ${damaged.dataDir}: database disk image is malformed\n`,
    })
    expect((await before.request('/status')).status).toBe(200)
  })

  test('because of a port for metrics that is taken', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await refused(3, `cannot bind 127.0.0.1:${other.port}`, '--metrics-port', String(other.port))
    await other.stop(true)
  })

  test('because the other one does not respond', async () => {
    server.signal('SIGSTOP')
    const ended = await run([...flagsFor(operator), '--take-over'])
    server.signal('SIGCONT')
    expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('the running server does not respond') })
    await isServing()
  })

  test('because its migration fails, which was tried on a copy', async () => {
    const through = nextRelease('broken', FAILING_MIGRATION)
    const child = Bun.spawn([...through, ...flagsFor(operator), '--take-over'], { stdout: 'pipe', stderr: 'pipe' })
    const [exitCode, stderr] = await Promise.all([child.exited, child.stderr.text()])
    expect({ exitCode, stderr }).toEqual({
      exitCode: 4,
      stderr: expect.stringContaining('NOT NULL constraint failed: next.id'),
    })
    expect(stderr).toStartWith(`scrip: ${operator.dataDir}: `)
    expect(readdirSync(operator.dataDir).filter((name) => name.startsWith('.scrip'))).toEqual([])
    await isServing()
  })

  test.skipIf(process.getuid?.() !== 0)('because the other one belongs to another user', async () => {
    const socket = join(operator.dataDir, 'server.sock')
    chownSync(socket, 1, 1)
    await refused(4, 'the server of another user works on this folder')
    chownSync(socket, 0, 0)
  })

  test('because it is killed after the other one has let go: requests that came meanwhile get responses', async () => {
    const killed = new AbortController()
    const unix = join(operator.dataDir, 'server.sock')
    const response = await fetch('http://scrip/hand-over', { method: 'POST', unix, signal: killed.signal })
    expect(response.status).toBe(200)
    await response.body?.getReader().read()
    const waiting = customer.get('/wallets')
    const again = await fetch('http://scrip/hand-over', { method: 'POST', unix })
    expect(again.status).toBe(409)
    killed.abort()
    expect((await waiting).status).toBe(200)
    await server.logged('the server that was to take over has ended')
    await isServing()
  })

  test('and a later one takes over, with a migration, beside a command that imports a catalog', async () => {
    writeFileSync(join(operator.dataDir, 'catalog.next'), 'what the command has read')
    const importing = new Database(join(operator.dataDir, 'import.lock'))
    importing.run('BEGIN EXCLUSIVE')
    const [command = '', ...rest] = nextRelease('next', 'CREATE TABLE next (id INTEGER PRIMARY KEY) STRICT')
    const child = Bun.spawn([command, ...rest, ...flagsFor(operator), '--take-over'], {
      stdout: 'pipe',
      stderr: 'ignore',
    })
    await child.stdout.getReader().read()
    await isServing()
    await endOf(server)
    await isServing()
    expect(await run([...flagsFor(operator), '--take-over'])).toMatchObject({ exitCode: 4 }) // this release is older
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    importing.close()
    expect(readdirSync(operator.dataDir)).toContain('catalog.next')
  })
})

test.skipIf(!isLinux)('a sandbox has nothing that another one could take over', async () => {
  const { exitCode, stderr } = await run(['serve', '--take-over'])
  expect([exitCode, stderr]).toEqual([2, 'scrip: --take-over is not available in sandbox mode\nLeave it out.\n'])
})
