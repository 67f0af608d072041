import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { POSTGRES, Postgres } from '../postgres.ts'
import { type Running, run, temporaryFolder } from '../program.ts'
import { logIn, serve } from '../rigs/server.ts'
import { KEYS, LIVE } from './postgres.ts'

/** A server whose PostgreSQL has a synchronous standby that stops responding (contract C4, C18). */

const LOOK_MS = 20
/** By then, a server that opened connections endlessly would have twice the allowed number. */
const BEATS_SEEN = 6

describe.skipIf(POSTGRES === undefined)('while a synchronous standby hangs', () => {
  let primary: Postgres
  let standby: Postgres
  let server: Running
  let token: string
  const folder = temporaryFolder()
  const env: Record<string, string> = { ...KEYS }

  beforeAll(async () => {
    primary = await Postgres.start()
    env.SCRIP_POSTGRES = await primary.create('stalled')
    standby = await primary.standby()
    while (!(await primary.sql('SELECT sync_state FROM pg_stat_replication')).includes('sync')) await Bun.sleep(LOOK_MS)
    const dataDir = join(folder.path, 'data')
    server = await serve([...LIVE, '--data-dir', dataDir], { env })
    const added = await run(['client', 'add', 'ada', '--json', '--data-dir', dataDir], { env })
    token = await logIn(server.port, 'ada', (JSON.parse(added.stdout) as { password: string }).password)
  })
  afterAll(async () => {
    await server.stop()
    await standby[Symbol.asyncDispose]()
    await primary[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  const isReady = async () => (await fetch(`${server.url}/readyz`)).status === 200
  const untilReady = async (isExpected: boolean): Promise<void> => {
    while ((await isReady()) !== isExpected) await Bun.sleep(LOOK_MS)
  }
  const count = async (email: string): Promise<number> =>
    Number((await primary.sql(`SELECT count(*) FROM scrip.beneficiaries WHERE email = '${email}'`, 'stalled'))[0])
  const create = (email: string) =>
    fetch(`${server.url}/api/v1/beneficiaries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ email, first_name: 'Ada', last_name: 'Lovelace' }),
    })

  /** Each commit renews the lease. The server can be ready for the last moments of an earlier renewal. */
  const untilRenewed = async (): Promise<void> => {
    while ((await create('ready@example.com')).status !== 201) await Bun.sleep(LOOK_MS)
  }

  test('a write that is committed late is acknowledged, although the lease has run out by then', async () => {
    for (let round = 0; round < 3; round += 1) {
      const email = `late${round}@example.com`
      await untilRenewed()
      await standby.signal('STOP')
      const created = create(email)
      await untilReady(false)
      await standby.signal('CONT')
      const { status } = await created
      // On a machine that is too slow to wait for the outcome, it is a 500.
      expect([201, 500]).toContain(status)
      await untilReady(true)
      expect(await count(email)).toBe(1)
    }
  })

  test('a write of unknown outcome is the 500 of its operation, and is there once the standby responds', async () => {
    await untilRenewed()
    await standby.signal('STOP')
    const response = await create('unknown@example.com')
    await standby.signal('CONT')
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({ error: 'InternalServerError', message: 'Failed to create beneficiary' })
    await untilReady(true)
    expect(await count('unknown@example.com')).toBe(1)
  })

  test('a server has three connections to PostgreSQL, and a fourth only to end an earlier server', async () => {
    await untilRenewed()
    await standby.signal('STOP')
    const created = create('patient@example.com')
    const connections = async () =>
      primary.sql("SELECT application_name || pid FROM pg_stat_activity WHERE application_name LIKE 'scrip %'")
    const seen = new Set<string>()
    while (seen.size < BEATS_SEEN) {
      const open = await connections()
      for (const one of open) if (one.startsWith('scrip beats')) seen.add(one)
      expect(open.length).toBeLessThanOrEqual(4)
      await Bun.sleep(LOOK_MS)
    }
    await standby.signal('CONT')
    await created
    await untilReady(true)
    expect((await connections()).length).toBeLessThanOrEqual(3)
  })
})
