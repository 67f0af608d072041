import { beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../../src/db/database.ts'
import { commitTotals, SharedCommit } from '../../src/db/shared-commit.ts'

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
const notes = (from = database) => from.sqlite.query('SELECT text FROM notes ORDER BY id').values().flat()

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
  test('run in order in one transaction, each seeing the previous ones', async () => {
    const seen: unknown[] = []
    const look = (text: string) => () => {
      seen.push([...notes(), database.sqlite.inTransaction])
      return write(text)
    }
    expect(await Promise.all(['a', 'b', 'c'].map((text) => database.write(look(text))))).toEqual(['a', 'b', 'c'])
    expect(seen).toEqual([[true], ['a', true], ['a', 'b', true]])
    expect(notes()).toEqual(['a', 'b', 'c'])
  })

  test('share one commit: another reader sees all or none', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'scrip-test-')), 'shared.sqlite')
    const writer = Database.openFile(path)
    writer.sqlite.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
    const reader = Database.openFile(path)
    const seen: unknown[] = []
    const insert = (text: string) => {
      writer.sqlite.run('INSERT INTO notes (text) VALUES (?)', [text])
      seen.push(notes(reader))
    }
    const first = writer.write(() => insert('a')).then(() => seen.push(notes(reader)))
    await Promise.all([first, writer.write(() => insert('b'))])
    expect(seen).toEqual([[], [], ['a', 'b']])
    writer.close()
    reader.close()
  })

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

  test('only the one that violates a constraint is rolled back', async () => {
    const outcomes = await Promise.allSettled([
      database.write(() => write('a')),
      database.write(() => database.sqlite.run('INSERT INTO notes (text) VALUES (NULL)')),
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

  test('a unit that requests another write does not deadlock', async () => {
    const inner: Promise<string>[] = []
    await database.write(() => {
      inner.push(database.write(() => write('second')))
      return write('first')
    })
    await Promise.all(inner)
    expect(notes()).toEqual(['first', 'second'])
  })
})

test('settled resolves once nothing waits, whatever became of it', async () => {
  const outcomes: string[] = []
  void database.write(() => write('a')).then(() => outcomes.push('done'))
  void database
    .write(() => {
      throw new Error('refused')
    })
    .catch(() => outcomes.push('refused'))
  await database.settled()
  expect(notes()).toEqual(['a'])
  await database.settled()
  expect(outcomes).toEqual(['done', 'refused'])
})

describe('an image', () => {
  test('opens as an independent copy', () => {
    write('a')
    const copy = Database.inMemory(database.image())
    copy.sqlite.run("INSERT INTO notes (text) VALUES ('b')")
    expect(notes(copy)).toEqual(['a', 'b'])
    expect(notes()).toEqual(['a'])
  })

  test('keeps foreign keys on', () => {
    const copy = Database.inMemory(database.image())
    expect(() => copy.sqlite.run("INSERT INTO notes (text, parent) VALUES ('x', 404)")).toThrow('FOREIGN KEY')
  })
})

describe('a database file', () => {
  const open = () => join(mkdtempSync(join(tmpdir(), 'scrip-test-')), 'file.sqlite')

  test('keeps acknowledged writes after closing, in one file', async () => {
    const path = open()
    const first = Database.openFile(path)
    first.sqlite.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
    await first.write(() => first.sqlite.run("INSERT INTO notes (text) VALUES ('kept')"))
    first.close()
    expect(await Bun.file(`${path}-wal`).exists()).toBe(false)
    const second = Database.openFile(path)
    expect(notes(second)).toEqual(['kept'])
    second.close()
  })

  test('overwrites deleted data', async () => {
    const path = open()
    const file = Database.openFile(path)
    file.sqlite.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
    const secret = 'ada@example.com'
    await file.write(() => file.sqlite.run('INSERT INTO notes (text) VALUES (?), (?)', [secret, secret.repeat(999)]))
    file.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(readFileSync(path).includes(secret)).toBe(true)
    await file.write(() => file.sqlite.run('DELETE FROM notes'))
    file.close()
    expect(readFileSync(path).includes(secret)).toBe(false)
  })

  test('truncates a write-ahead log that grew during a long read', async () => {
    const path = open()
    const file = Database.openFile(path)
    file.sqlite.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
    const reader = Database.openFile(path)
    reader.sqlite.run('BEGIN')
    notes(reader)
    const text = 'x'.repeat(1_000_000)
    const write = () => file.write(() => void file.sqlite.run('INSERT INTO notes (text) VALUES (?)', [text]))
    for (let count = 0; count < 24; count++) await write()
    const size = () => statSync(`${path}-wal`).size
    expect(size()).toBeGreaterThan(24_000_000)
    reader.sqlite.run('COMMIT')
    for (let count = 0; count < 3; count++) await write()
    expect(size()).toBeLessThan(10_000_000)
    reader.close()
    file.close()
  })

  test('survives a power failure, with foreign keys on', () => {
    const file = Database.openFile(open())
    const pragma = (name: string) => file.sqlite.query(`PRAGMA ${name}`).values().flat()
    expect(pragma('journal_mode')).toEqual(['wal'])
    expect(pragma('synchronous')).toEqual([2])
    expect(pragma('foreign_keys')).toEqual([1])
    expect(pragma('busy_timeout')).toEqual([5_000])
    file.close()
  })
})

describe('more writes than one commit takes', () => {
  const HUNDRED_AND_ONE = Array.from({ length: 101 }, (_, index) => `${index}`)

  test('go into the next one', async () => {
    const before = commitTotals.commits
    await Promise.all(HUNDRED_AND_ONE.map((text) => database.write(() => write(text))))
    expect(notes()).toEqual(HUNDRED_AND_ONE)
    expect(commitTotals.commits - before).toBe(2)
  })

  test('are all committed when the database closes', async () => {
    const commits = new SharedCommit(database.sqlite)
    const all = HUNDRED_AND_ONE.map((text) => commits.run(() => write(text)))
    commits.end()
    expect(await Promise.all(all)).toEqual(HUNDRED_AND_ONE)
    expect(notes()).toEqual(HUNDRED_AND_ONE)
  })
})
