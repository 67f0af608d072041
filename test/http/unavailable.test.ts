import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { forFile, startServer } from '../harness.ts'
import { bareLayer } from './layer.ts'

/** The 503 of errors that pass (contract C4). Faults inject them at the guard. */

const server = forFile(await startServer())

const FAULT = { 'x-sandbox-fault': 'unavailable' }

describe('503', () => {
  test('is not stored for an Idempotency-Key: a retry succeeds', async () => {
    const world = await server.world()
    const ada = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
    const key = { 'idempotency-key': 'once-and-again' }
    expect((await world.post('/api/v1/beneficiaries', ada, { ...key, ...FAULT })).status).toBe(503)
    const again = await world.post('/api/v1/beneficiaries', ada, key)
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
  })
})

describe('an error of the database', () => {
  const app = (error: unknown, told: unknown[]) =>
    new Elysia().use(bareLayer(told).hooks).get('/api/v1/wallets', () => {
      throw error
    })

  test.each([
    ['SQLITE_BUSY_SNAPSHOT', 503],
    ['SQLITE_IOERR_READ', 503],
    ['SQLITE_CORRUPT', 500],
  ])('%s in a read is %i, and is logged', async (code, status) => {
    const error = Object.assign(new Error('a read'), { code })
    const told: unknown[] = []
    const response = await app(error, told).handle(new Request('http://localhost/api/v1/wallets'))
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '5' : null)
    expect(told).toEqual([error])
  })
})
