import { expect, test } from 'bun:test'
import { CHECKS } from '../../src/commands/data/checks.ts'
import { openLive } from './live.ts'

/** In live mode a timer does the due work. */

test('reads wait for nothing and write nothing, even if something is due and nothing can be written', async () => {
  await using live = await openLive()
  const { database, request } = live
  await live.stock(1, 'one')
  const { id } = await live.order(1, 1)
  database.sqlite.run("UPDATE orders SET status = 'PENDING', due_at_ms = 0 WHERE id = ?", [id])
  database.sqlite.run('PRAGMA query_only = ON')
  expect((await request('/countries/105')).status).toBe(200)
  expect((await live.read(id)).status).toBe('PENDING')
  database.sqlite.run('PRAGMA query_only = OFF')
})

test('work that was due a day before the last movement is a fault of the data', async () => {
  await using live = await openLive()
  const { database } = live
  const faults = () => {
    const check = CHECKS.find(({ name }) => name === 'what was due is done')
    return database.sqlite
      .query(check?.sql ?? '')
      .values()
      .flat()
  }
  await live.stock(1, 'one')
  const { id } = await live.order(1, 1)
  expect(faults()).toEqual([])
  database.sqlite.run('UPDATE orders SET due_at_ms = 0 WHERE id = ?', [id])
  expect(faults()).toEqual([`order ${id} was due at 1970-01-01T00:00:00Z`])
})
