import { beforeEach, describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from '../../src/db/database.ts'
import { commitTotals } from '../../src/db/shared-commit.ts'
import { sinceStartMs } from '../../src/kernel/clock.ts'
import { folderTest } from '../program.ts'

let database: Database
beforeEach(() => {
  database = Database.inMemory()
  database.sqlite.run('CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT')
  database.sqlite.run(
    'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED) STRICT',
  )
})

const write = (text: string, parent: number | null = null) => {
  database.sqlite.run('INSERT INTO notes (text, parent) VALUES (?, ?)', [text, parent])
  return text
}
const notes = () => database.sqlite.query('SELECT text FROM notes ORDER BY id').values().flat()

describe('a write', () => {
  test('returns the result of its work after the commit', async () => {
    const written = database.write(() => write('a'))
    expect(notes()).toEqual([])
    expect(await written).toBe('a')
    expect(notes()).toEqual(['a'])
    expect(database.sqlite.inTransaction).toBe(false)
  })

  test('is rolled back if it throws, and rejects with the same error', async () => {
    const reason = new Error('refused')
    const written = database.write(() => {
      write('half')
      throw reason
    })
    expect(await written.catch((error: unknown) => error)).toBe(reason)
    expect(notes()).toEqual([])
  })
})

describe('writes that arrive together', () => {
  test('only the one that throws is rolled back', async () => {
    const outcomes = await Promise.allSettled([
      database.write(() => write('a')),
      database.write(() => {
        write('half')
        throw new Error('refused')
      }),
      database.write(() => write('c')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(notes()).toEqual(['a', 'c'])
  })

  test('a failed commit rejects all, writes nothing, and the next write succeeds', async () => {
    const outcomes = await Promise.allSettled([
      database.write(() => write('a')),
      database.write(() => write('an orphan, which only the commit can tell', 404)),
      database.write(() => write('c')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    for (const outcome of outcomes) {
      expect(String((outcome as PromiseRejectedResult).reason)).toContain('FOREIGN KEY constraint failed')
    }
    expect(notes()).toEqual([])
    expect(database.sqlite.inTransaction).toBe(false)
    expect(await database.write(() => write('next'))).toBe('next')
    expect(notes()).toEqual(['next'])
  })
})

describe('writes of turns of the event loop that follow one another', () => {
  /** Two writes, and one in each of the turns that follow. Returns the number of writes when the first one is acknowledged. */
  const writeInTurns = async (turns: number): Promise<number> => {
    const written = [database.write(() => write('first')), database.write(() => write('first'))]
    const acknowledged = written[0]?.then(() => written.length)
    for (let turn = 0; turn < turns; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      written.push(database.write(() => write('later')))
    }
    await Promise.all(written)
    return acknowledged ?? 0
  }

  test('share a commit', async () => {
    const { commits, units } = commitTotals
    await writeInTurns(1)
    expect(notes()).toEqual(['first', 'first', 'later'])
    expect(commitTotals).toEqual({ commits: commits + 1, units: units + 3 })
  })

  test('wait for four turns at most', async () => {
    expect(await writeInTurns(12)).toBeLessThanOrEqual(2 + 4)
  })
})

folderTest('a commit to a file that is removed meanwhile is not acknowledged', async (folder) => {
  const path = join(folder, 'data.sqlite')
  const served = Database.openFile(path)
  served.serve()
  const written = served.write(() => {
    served.sqlite.run('CREATE TABLE notes (text TEXT) STRICT')
    renameSync(path, `${path}.away`)
  })
  await expect(written).rejects.toMatchObject({ failure: { code: 'unavailable' } })
  renameSync(`${path}.away`, path)
  served.close()
})

describe('while the database is held for work that lasts', () => {
  /** Holds the database until its end is called. */
  const hold = () => {
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const over = database.whileHeld(async (pass) => {
      await pass(() => database.write(() => write('by the work itself')))
      begun.resolve()
      await end.promise
    })
    return { begun: begun.promise, end: () => end.resolve(), over }
  }

  test('a write is refused within 5 s and has no effect, and a patient one is done afterwards', async () => {
    const { begun, end, over } = hold()
    await begun
    expect(notes()).toEqual(['by the work itself'])
    const patient = database.writePatiently(() => write('patient'))
    const sinceMs = sinceStartMs()
    const refused = await database.write(() => write('never')).catch((error: unknown) => error)
    expect(refused).toMatchObject({ failure: { code: 'unavailable' } })
    expect(sinceStartMs() - sinceMs).toBeGreaterThan(4_000)
    expect(notes()).toEqual(['by the work itself'])
    end()
    await Promise.all([over, patient])
    expect(notes()).toEqual(['by the work itself', 'patient'])
  }, 30_000)

  test('a write that waits for less is done afterwards, after what came before it', async () => {
    const before = database.write(() => write('before'))
    const { begun, end, over } = hold()
    const after = database.write(() => write('after'))
    await begun
    end()
    await Promise.all([before, over, after])
    expect(notes()).toEqual(['by the work itself', 'before', 'after'])
  })

  test('further work waits for the end of the first', async () => {
    const first = hold()
    const second = hold()
    await first.begun
    first.end()
    second.end()
    await Promise.all([first.over, second.over])
    expect(notes()).toEqual(['by the work itself', 'by the work itself'])
  })
})
