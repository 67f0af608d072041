import { afterAll, describe, expect, test } from 'bun:test'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { secureRandomness } from '../../src/kernel/ids.ts'
import { watchRows, withChanges } from '../../src/sandbox/requests/row-changes.ts'
import { World } from '../../src/worlds/world.ts'
import { CLIENT, CURRENCY, wallet } from '../replication/opened.ts'

const database = Database.inMemory()
migrate(database.sqlite, systemClock)
const world = new World('changes', database, systemClock, secureRandomness)
afterAll(() => world.close())

const write = (...statements: string[]) =>
  database.write(() =>
    withChanges(world, false, () => {
      for (const statement of statements) database.sqlite.run(statement)
    }),
  )

describe('Row changes of a write whose connection was opened after the request began', () => {
  test('are reported', async () => {
    expect((await write(CLIENT, CURRENCY, wallet(1, 1))).changes).toEqual([
      { table: 'wallets', operation: 'insert', key: '1' },
    ])
  })

  test('are reported of the next write if it was undone', async () => {
    const reopened = Database.inMemory(database.image())
    const resumed = new World('resumed', reopened, systemClock, secureRandomness)
    const writing = (statement: string) =>
      reopened.write(() => withChanges(resumed, false, () => reopened.sqlite.run(statement)))
    await expect(writing('INSERT INTO missing VALUES (1)')).rejects.toThrow('no such table: missing')
    watchRows(resumed)
    expect((await writing(wallet(2, 0))).changes).toEqual([{ table: 'wallets', operation: 'insert', key: '2' }])
    resumed.close()
  })
})
