import { Database as SqliteDatabase } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../../src/db/database.ts'
import { DomainError } from '../../src/kernel/failure.ts'

/** A served database beside other programs: its thread waits for none of them. */

let folder: string
let path: string
let served: Database
let other: SqliteDatabase
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scrip-test-'))
  path = join(folder, 'data.sqlite')
  served = Database.openFile(path)
  served.sqlite.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
  served.serve()
  other = new SqliteDatabase(path)
})
afterEach(() => {
  other.close()
  served.close()
  rmSync(folder, { recursive: true, force: true })
})

const insert = (text: string) => {
  served.sqlite.run('INSERT INTO notes (text) VALUES (?)', [text])
  return text
}
const notes = () => other.query('SELECT text FROM notes ORDER BY id').values().flat()
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'done',
    (error: unknown) => (error instanceof DomainError ? error.failure : error),
  )

describe('while another program holds the database', () => {
  test('a write is refused without effect, and the next one succeeds', async () => {
    other.run('BEGIN IMMEDIATE')
    expect(await failureOf(served.write(() => insert('a')))).toMatchObject({
      code: 'unavailable',
      headers: { 'Retry-After': expect.stringMatching(/^\d+$/) },
    })
    expect(served.trouble?.message).toContain('locked')
    other.run('COMMIT')
    expect(await served.write(() => insert('b'))).toBe('b')
    expect(served.trouble).toBeUndefined()
    expect(notes()).toEqual(['b'])
  })
})

describe('while another connection of this process writes', () => {
  test('writes wait without blocking the thread, and run in order', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const held = served.whileHeld(() => promise)
    const written = Promise.all(['a', 'b'].map((text) => served.write(() => insert(text))))
    expect(await Promise.race([written, Bun.sleep(20).then(() => 'the thread')])).toBe('the thread')
    resolve()
    await held
    expect(await written).toEqual(['a', 'b'])
    expect(notes()).toEqual(['a', 'b'])
  })
})

describe('if the files are removed', () => {
  test('nothing is written or acknowledged until they are restored', async () => {
    renameSync(path, `${path}.away`)
    expect(await failureOf(served.write(() => insert('a')))).toMatchObject({ code: 'unavailable' })
    expect(served.trouble?.message).toContain(path)
    renameSync(`${path}.away`, path)
    expect(await served.write(() => insert('c'))).toBe('c')
    expect(served.trouble).toBeUndefined()
    expect(notes()).toEqual(['c'])
  })

  test('a commit during the removal is not acknowledged', async () => {
    const written = served.write(() => {
      renameSync(path, `${path}.away`)
      return insert('a')
    })
    expect(await failureOf(written)).toMatchObject({ code: 'unavailable' })
    renameSync(`${path}.away`, path)
  })

  test('the periodic check detects it, and their return', async () => {
    renameSync(`${path}-wal`, `${path}-wal.away`)
    served.lookAfter()
    await failureOf(served.write(() => undefined))
    expect(served.trouble).toBeDefined()
    renameSync(`${path}-wal.away`, `${path}-wal`)
    served.lookAfter()
    await served.write(() => undefined)
    expect(served.trouble).toBeUndefined()
  })
})

describe('a disk that becomes full during a unit of work', () => {
  test('rolls back all units in the transaction, and the next write succeeds', async () => {
    const pages = served.sqlite.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count
    served.sqlite.run(`PRAGMA max_page_count = ${pages}`)
    const outcomes = await Promise.all([
      failureOf(served.write(() => insert('a'))),
      failureOf(served.write(() => insert('x'.repeat(100_000)))),
    ])
    expect(outcomes[1]).toMatchObject({ code: 'unavailable' })
    expect(outcomes[0]).toEqual(notes().length === 0 ? outcomes[1] : 'done')
    served.sqlite.run('PRAGMA max_page_count = 1000000')
    expect(await served.write(() => insert('next'))).toBe('next')
  })
})
