import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { structured } from '../errors.ts'
import { expectResponse } from '../harness.ts'
import { bearer, inFolder, loggedIn, type Running, start } from '../program.ts'

/** Others change the data folder while it is served. */

const PERSON = JSON.stringify({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })
const UNAVAILABLE = structured('ServiceUnavailableError', 'SERVICE_UNAVAILABLE', 'Try again later.')

/** A server on a folder inside another one, and a client of it. */
const serving = (
  work: (
    dataDir: string,
    program: Running,
    save: () => Promise<Response>,
    read: () => Promise<Response>,
  ) => Promise<void>,
): Promise<void> =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    const program = await start(['--data-dir', dataDir, '--rate-limit', 'off'])
    const client = bearer(await loggedIn(program))
    const save = () => program.request('/api/v1/beneficiaries', { method: 'POST', ...client, body: PERSON })
    const read = () => program.request('/api/v1/beneficiaries', client)
    await work(dataDir, program, save, read)
    expect(await program.stop()).toMatchObject({ exitCode: 0 })
  })

const isReady = async (program: Running): Promise<boolean> => (await program.request('/readyz')).status === 200

describe('a data folder that is removed while in use', () => {
  test('stops acknowledgements and readiness until it is restored', () =>
    serving(async (dataDir, program, save, read) => {
      expect((await save()).status).toBe(201)
      renameSync(dataDir, `${dataDir}.away`)
      await expectResponse(save(), 503, UNAVAILABLE)
      expect(await isReady(program)).toBe(false)
      await program.logged('was removed or replaced')
      renameSync(`${dataDir}.away`, dataDir)
      expect((await save()).status).toBe(201)
      expect(await isReady(program)).toBe(true)
      expect((await read()).headers.get('x-total-count')).toBe('2')
    }))

  test('is detected without writes', () =>
    serving(async (dataDir, program) => {
      rmSync(dataDir, { recursive: true })
      await program.logged('was removed or replaced')
      expect(await isReady(program)).toBe(false)
    }))
})

describe('a database file that is replaced while in use', () => {
  test('by a copy of itself is detected by the next write', () =>
    serving(async (dataDir, _program, save) => {
      const path = join(dataDir, 'scrip.sqlite')
      copyFileSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
      expect((await save()).status).toBe(503)
    }))
})

describe("another program's lock on the database", () => {
  test('delays no reads; a write is 503 until it is released, and is not done', () =>
    serving(async (dataDir, program, save, read) => {
      const foreign = new Database(join(dataDir, 'scrip.sqlite'))
      foreign.run('BEGIN IMMEDIATE')
      await expectResponse(save(), 503, UNAVAILABLE)
      expect(await isReady(program)).toBe(false)
      expect((await read()).headers.get('x-total-count')).toBe('0')
      foreign.run('COMMIT')
      expect((await save()).status).toBe(201)
      expect(await isReady(program)).toBe(true)
      expect((await read()).headers.get('x-total-count')).toBe('1')
      foreign.close()
    }))
})
