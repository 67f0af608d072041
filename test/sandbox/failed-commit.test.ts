// Runs in process alone: it makes a commit fail.

import { expect, spyOn, test } from 'bun:test'
import type { RecordedRequest } from '../../src/sandbox/requests/contract.ts'
import { forFile, openProgram } from '../harness.ts'
import { HUNDRED, NOON, PAYOUTS } from '../records.ts'
import { succeed } from './surface.ts'

const program = forFile(openProgram())

test('a request whose commit fails has written no row and no event in the request log', async () => {
  const { client, world } = await program.open(NOON)
  const run = world.db.sqlite.run.bind(world.db.sqlite)
  const spy = spyOn(world.db.sqlite, 'run').mockImplementation((sql: string, ...values: []) => {
    if (sql === 'COMMIT') throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    return run(sql, ...values)
  })
  const refused = await client.post(PAYOUTS, HUNDRED)
  spy.mockRestore()
  expect(refused.status).toBe(503)
  const [recorded] = await succeed<RecordedRequest[]>(program, 'GET', `/requests?world=${world.name}&limit=1`)
  expect(recorded).toMatchObject({ response: { status: 503 }, changes: [], events: [] })
  expect(await client.read<unknown[]>(PAYOUTS)).toEqual([])
})
