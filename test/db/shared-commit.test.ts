import { beforeEach, describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from '../../src/db/database.ts'
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
