// Runs in process alone: it counts rows, which no response shows.

import { describe, expect, test } from 'bun:test'
import { administrationOf } from '../../src/acts/administration.ts'
import { watchStatements } from '../db/watch.ts'
import { forFile } from '../harness.ts'
import { openLive } from '../orders/live.ts'

/** Rows of clients that statements have returned. */
let rowCount = 0
watchStatements((sql, _, rows) => {
  if (/ from "clients"/i.test(sql) && Array.isArray(rows)) rowCount += rows.length
})

const first = forFile(await openLive())
first.database.sqlite.run(`WITH RECURSIVE n AS (SELECT 2 AS id UNION ALL SELECT id + 1 FROM n WHERE id < 1000)
  INSERT INTO clients SELECT id, 'client-' || id, '', NULL, NULL, 1, NULL, NULL, NULL, NULL, 0, 0, 0 FROM n`)
await first.stop()

describe('Clients are looked up, not listed', () => {
  test('by a start in a folder of 1,000 clients', async () => {
    rowCount = 0
    await using _ = await openLive(first.folder)
    expect(rowCount).toBeLessThan(20)
  })

  test('by a list that names the clients of its rows', async () => {
    await using live = await openLive(first.folder)
    const { worlds, reference } = live.deps
    rowCount = 0
    const { clientName } = administrationOf(worlds.default, reference)
    expect([1, 999, 1, 999, 5_000].map(clientName)).toEqual(['acme', 'client-999', 'acme', 'client-999', null])
    expect(rowCount).toBe(2)
  })
})
