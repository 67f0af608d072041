import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bearer, folderTest, inFolder, loggedIn, login, type Pair, type Running, start } from '../program.ts'
import { ADA } from '../records.ts'

/** With a data folder, acknowledged writes outlive the process, however it ends (contract C1, C3). */

const save = async (program: Running, pair: Pair): Promise<Response> =>
  program.request('/api/v1/beneficiaries', { method: 'POST', ...bearer(pair), body: JSON.stringify(ADA) })

const refresh = (program: Running, refresh_token: string): Promise<Response> =>
  program.request('/auth/refresh', { method: 'POST', body: JSON.stringify({ refresh_token }) })

const statusWith = async (program: Running, pair: Pair): Promise<number> =>
  (await program.request('/api/v1/countries/1', bearer(pair))).status

describe.each(['SIGTERM', 'SIGKILL'] as const)('after %s', (signal) => {
  folderTest('beneficiaries, tokens and revocations are unchanged', async (folder) => {
    const before = await start(['--data-dir', folder])
    const leaver = (await (await login(before, 'limited')).json()) as Pair
    expect((await before.request('/auth/logout', { method: 'POST', ...bearer(leaver) })).status).toBe(200)
    const pair = await loggedIn(before)
    const stale = await loggedIn(before)
    const renewed = (await (await refresh(before, stale.refresh_token)).json()) as Pair
    const saved = (await (await save(before, pair)).json()) as { id: string }
    before.signal(signal)
    await before.ended()

    await using after = await start(['--data-dir', folder])
    expect(await (await after.request(`/api/v1/beneficiaries/${saved.id}`, bearer(pair))).json()).toEqual(saved)
    expect(await statusWith(after, pair)).toBe(200)
    expect(await statusWith(after, renewed)).toBe(200)
    expect(await statusWith(after, leaver)).toBe(401)
    expect((await refresh(after, leaver.refresh_token)).status).toBe(401)
    expect((await refresh(after, renewed.refresh_token)).status).toBe(200)
    expect((await refresh(after, stale.refresh_token)).status).toBe(401)
    expect(await statusWith(after, renewed)).toBe(401)
    expect((await refresh(after, pair.refresh_token)).status).toBe(200)
    const { id } = (await (await save(after, pair)).json()) as { id: string }
    expect(id).not.toBe(saved.id)
  })
})

test('the folder and its files are readable only by their owner, and a clean stop leaves no write-ahead log', () =>
  inFolder(async (folder) => {
    const data = join(folder, 'made', 'here')
    const program = await start(['--data-dir', data], { through: ['sh', '-c', 'umask 022; exec "$@"', 'sh'] })
    await loggedIn(program)
    expect(statSync(data).mode & 0o777).toBe(0o700)
    const names = ['scrip.sqlite', 'scrip.sqlite-shm', 'scrip.sqlite-wal', 'server.lock', 'signing.key']
    expect(readdirSync(data)).toEqual(expect.arrayContaining(names))
    const others = () => readdirSync(data).filter((name) => (statSync(join(data, name)).mode & 0o777) !== 0o600)
    expect(others()).toEqual([])
    expect((await program.request('/_sandbox/reset', { method: 'POST' })).status).toBe(200)
    await program.stop()
    expect(others()).toEqual([])
    expect(readdirSync(data).filter((name) => /\.\d+$/.test(name))).toEqual([])
    const log = join(data, 'scrip.sqlite-wal')
    expect(existsSync(log) ? statSync(log).size : 0).toBe(0)
  }))

folderTest('an existing folder keeps its permissions', async (folder) => {
  chmodSync(folder, 0o750)
  await (await start(['--data-dir', folder])).stop()
  expect(statSync(folder).mode & 0o777).toBe(0o750)
  expect(statSync(join(folder, 'scrip.sqlite')).mode & 0o777).toBe(0o600)
})
