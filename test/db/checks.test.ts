// Runs in process alone: it counts steps of SQLite, which no response shows.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CHECKS } from '../../src/commands/data/checks.ts'
import { Database } from '../../src/db/database.ts'
import { temporaryFolder } from '../program.ts'
import { fill, SIZES, stepsOf } from './steps.ts'

/** `scrip verify` takes a time that grows with the records, and not with their square. */
describe.skipIf(Bun.which('sqlite3') === null)('scrip verify checks', () => {
  const folder = temporaryFolder()
  const fileOf = (size: number) => join(folder.path, `${size}.sqlite`)
  beforeAll(() => {
    for (const size of SIZES) {
      const database = Database.openFile(fileOf(size))
      fill(database, size)
      database.close()
    }
  })
  afterAll(() => folder[Symbol.dispose]())

  test.each(CHECKS.map(({ name, sql }) => [name, sql]))('that %s, each record a few times', async (_, sql) => {
    const [few, many] = SIZES.map(async (size) => (await stepsOf(fileOf(size), [{ statements: [sql] }]))[0] ?? 0)
    expect(await many).toBeLessThan(2 * 20 * ((await few) ?? 0))
  })
})
