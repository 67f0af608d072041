import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { POSTGRES } from '../postgres.ts'
import { type Running, run } from '../program.ts'
import { logIn, serve } from '../rigs/server.ts'
import type { ReadResponse } from '../sandbox/surface.ts'
import { KEYS, LIVE, serving, withPostgres } from './postgres.ts'

/** Two servers and their operator, with the data in PostgreSQL (contract C18). */

const get = async ({ port }: Running, path: string, headers: Record<string, string> = {}): Promise<ReadResponse> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const untilReady = async (server: Running): Promise<void> => {
  while ((await get(server, '/readyz')).status !== 200) await Bun.sleep(20)
}

describe.skipIf(POSTGRES === undefined)('an installation in PostgreSQL', () => {
  const { postgres, newFolder, newInstallation } = withPostgres()

  test('is served by one server, followed by others, and by another one when that ends', async () => {
    const env = await newInstallation()
    const [first, second] = [newFolder(), newFolder()]
    const a = await serve([...LIVE, '--data-dir', first], { env })
    const metricsPort = await freePort()
    const b = await serve([...LIVE, '--data-dir', second, '--metrics-port', String(metricsPort)], { env })
    const command = (dataDir: string, ...args: string[]) => run([...args, '--data-dir', dataDir], { env })
    const added = await command(first, 'client', 'add', 'ada', '--json')
    const { password } = JSON.parse(added.stdout) as { password: string }
    expect(await command(second, 'client', 'add', 'bob')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `scrip: another server is active: ${hostname()}, http://127.0.0.1:${a.port}\nRun the command on the machine of that server.\n`,
    })
    const listed = await command(second, 'client', 'list')
    expect(listed.stdout).toContain('ada')
    expect(listed.stderr).toMatch(/^This copy is \d+\.\d s behind the record\.\n$/)

    expect(await get(a, '/readyz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await get(b, '/readyz')).toMatchObject({ status: 503, body: { status: 'warm' } })
    expect(await get(b, '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } })
    const refused = await get(b, '/status')
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { name: 'ServiceUnavailableError', code: 'SERVICE_UNAVAILABLE', message: 'Try again later.' } },
    })
    for (const path of ['/readyz', '/status']) {
      const { headers } = await get(b, path)
      expect([headers.get('retry-after'), headers.get('connection')]).toEqual(['1', 'close'])
    }
    for (const path of ['/readyz', '/livez', '/status', '/api/v1/wallets']) {
      expect((await get(b, path)).headers.get('x-request-id')).toMatch(/^req_/)
      expect((await get(b, path, { 'X-Request-Id': 'mine' })).headers.get('x-request-id')).toBe('mine')
    }
    const taken = await run([...LIVE, '--data-dir', newFolder(), '--port', String(a.port)], { env })
    expect(taken).toMatchObject({ exitCode: 3, stdout: '' })

    const status = JSON.parse((await run(['postgres', 'status', '--json'], { env })).stdout)
    expect(status).toMatchObject({ epoch: 1, url: `http://127.0.0.1:${a.port}`, followers: [{ lag_commits: 0 }] })

    const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(page).toContain('scrip_record_role{role="warm"} 1\n')
    const watched =
      readFileSync(join(import.meta.dir, '../../docs/operate/alerts.yml'), 'utf8').match(/\bscrip_record_\w+/g) ?? []
    for (const name of watched) expect(page).toMatch(new RegExp(`^${name}[{ ]`, 'm'))

    const token = await logIn(a.port, 'ada', password)
    await a.kill()
    await untilReady(b)
    expect(await get(b, '/api/v1/wallets', { Authorization: `Bearer ${token}` })).toMatchObject({
      status: 200,
      body: [],
    })
    expect(await command(second, 'wallet', 'add', 'ada', 'USD')).toMatchObject({ exitCode: 0 })

    const verified = await command(second, 'verify', '--json')
    expect(verified.exitCode).toBe(0)
    expect(JSON.parse(verified.stdout)).toContainEqual({
      check: 'the copy matches the record',
      faults: 0,
      first: null,
    })
    const database = env.SCRIP_POSTGRES?.split('/').at(-1)
    await postgres().sql('UPDATE scrip.wallets SET threshold_minor = 5', database)
    const differing = await command(second, 'verify', '--json')
    expect(differing.exitCode).toBe(1)
    expect(JSON.parse(differing.stdout)).toContainEqual({
      check: 'the copy matches the record',
      faults: 1,
      first: 'wallets 1',
    })

    expect(await b.stop()).toMatchObject({ exitCode: 0 })
    expect((await command(first, 'wallet', 'list')).stdout).toContain('ada')
    expect(await command(first, 'wallet', 'fund', '1', '5')).toMatchObject({ exitCode: 0 })

    await postgres().sql(
      `DELETE FROM scrip.audit; UPDATE scrip.audit_head SET count = 0, hash = '${'0'.repeat(64)}'`,
      database,
    )
    const forged = await command(newFolder(), 'verify', '--json')
    expect(forged.exitCode).toBe(1)
    expect(JSON.parse(forged.stdout)).toContainEqual({
      check: 'the audit is unbroken',
      faults: 1,
      first: "a row after row 0 of the audit is missing, or the audit's head was changed",
    })
  })

  test('is the same whatever is set on the role or the database', async () => {
    const env = await newInstallation()
    const database = new URL(env.SCRIP_POSTGRES).pathname.slice(1)
    const settings = {
      ...{
        default_transaction_isolation: 'serializable',
        search_path: 'nowhere',
        datestyle: 'German',
        timezone: 'Asia/Tokyo',
      },
      ...{ statement_timeout: '1ms', lock_timeout: '1ms', idle_in_transaction_session_timeout: '1ms' },
      ...{ idle_session_timeout: '100ms', synchronous_commit: 'off', bytea_output: 'escape', extra_float_digits: '0' },
    }
    for (const [name, value] of Object.entries(settings))
      await postgres().sql(`ALTER DATABASE ${database} SET ${name} = '${value}'`)
    const dataDir = newFolder()
    const server = await serve([...LIVE, '--data-dir', dataDir], { env })
    // A transaction of another kind would be refused now and then, where two of them read what the other writes.
    await postgres().sql(
      `SET statement_timeout = 0; SET lock_timeout = 0;
      CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF current_setting('transaction_isolation') <> 'read committed' THEN RAISE 'not read committed'; END IF;
        RETURN NEW; END $$;
      CREATE TRIGGER hold BEFORE INSERT OR UPDATE ON scrip.changes FOR EACH ROW EXECUTE FUNCTION public.hold();
      CREATE TRIGGER hold BEFORE INSERT OR UPDATE ON scrip.installation FOR EACH ROW EXECUTE FUNCTION public.hold()`,
      database,
    )
    for (const line of ['client add ada', 'wallet add ada USD', 'wallet fund 1 5', 'verify'])
      expect(await run([...line.split(' '), '--data-dir', dataDir], { env })).toMatchObject({ exitCode: 0 })
    expect(await get(server, '/readyz')).toMatchObject({ status: 200 })
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
    expect(await run(['wallet', 'fund', '1', '5', '--data-dir', dataDir], { env })).toMatchObject({ exitCode: 0 })
  })

  test('says what stops its writes, if the database becomes read-only', async () => {
    const env = await newInstallation()
    const database = new URL(env.SCRIP_POSTGRES).pathname.slice(1)
    const server = await serve([...LIVE, '--data-dir', newFolder()], { env })
    await postgres().sql(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
    await postgres().sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND application_name LIKE 'scrip %'`,
    )
    await server.logged('default_transaction_read_only is on')
    while ((await get(server, '/readyz')).status !== 503) await Bun.sleep(20)
    await postgres().sql(`ALTER DATABASE ${database} RESET default_transaction_read_only`)
    await postgres().sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND application_name LIKE 'scrip %'`,
    )
    await untilReady(server)
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
  })

  test('begins with the data of one machine, and goes back to one', async () => {
    const env = await newInstallation()
    const dataDir = newFolder()
    expect(await run(['client', 'add', 'ada', '--data-dir', dataDir])).toMatchObject({ exitCode: 0 })
    const refused = await run(serving(dataDir), { env })
    expect([refused.exitCode, refused.stderr]).toEqual([
      4,
      `scrip: ${dataDir}: the record is empty, and this folder contains data\nRun scrip postgres init to upload it.\n`,
    ])
    expect(await run(['postgres', 'init', '--data-dir', dataDir], { env })).toMatchObject({ exitCode: 0 })
    const again = await run(['postgres', 'init', '--data-dir', dataDir], { env })
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      'scrip: the record already contains data\nUse an empty database, or serve an empty folder, which is pulled.\n',
    ])
    const [backup, alone] = [newFolder(), newFolder()]
    expect(await run(['backup', backup, '--data-dir', newFolder()], { env })).toMatchObject({ exitCode: 0 })
    const withOneKey = { env: { SCRIP_VOUCHER_KEY: KEYS.SCRIP_VOUCHER_KEY } }
    for (const command of [
      ['restore', backup],
      ['client', 'add', 'bob'],
    ])
      expect(await run([...command, '--data-dir', alone], withOneKey)).toMatchObject({ exitCode: 0 })
  })

  test('keeps a copy that holds more than a restored record, and pulls it again', async () => {
    const env = await newInstallation()
    const database = env.SCRIP_POSTGRES?.split('/').at(-1)
    const dataDir = newFolder()
    expect(await run(['client', 'add', 'ada', '--data-dir', dataDir], { env })).toMatchObject({ exitCode: 0 })
    await postgres().sql(
      'DELETE FROM scrip.changes WHERE seq > 1; DELETE FROM scrip.clients; DELETE FROM scrip.audit; UPDATE scrip.audit_head SET count = 0',
      database,
    )
    const server = await serve([...LIVE, '--data-dir', dataDir], { env })
    expect(server.log()).toMatch(/the copy is set aside, and pulled again cause="?the copy holds commits 2 to \d/)
    expect(await server.stop()).toMatchObject({ exitCode: 0 })
    const [aside] = [...new Bun.Glob('scrip.sqlite.foreign-*').scanSync(dataDir)].filter(
      (name) => !name.includes('-wal'),
    )
    expect(aside).toMatch(/^scrip\.sqlite\.foreign-\d{4}-/)
    expect((await run(['client', 'list', '--data-dir', dataDir], { env })).stdout).not.toContain('ada')
  })
})
