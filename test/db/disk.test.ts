import { describe, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyBeside, flushWhile } from '../../src/db/disk.ts'

/** What is brought to the disk beside the thread that serves requests. */

const inFolder = async (work: (path: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-disk-'))
  try {
    const path = join(folder, 'copy')
    writeFileSync(path, '')
    await work(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('a file that is brought to the disk while it is written', () => {
  test('waits until the file is written', () =>
    inFolder(async (path) => {
      const written = Promise.withResolvers<void>()
      let isFlushed = false
      const flushing = flushWhile(path, written.promise).then(() => (isFlushed = true))
      await Bun.sleep(1)
      appendFileSync(path, 'all of it')
      expect(isFlushed).toBe(false)
      written.resolve()
      expect(await flushing).toBe(true)
    }))

  test.each([0, 1])('throws what the writing throws, after %d ms', (ms) =>
    inFolder(async (path) => {
      const writing = async (): Promise<void> => {
        if (ms > 0) await Bun.sleep(ms)
        throw new Error('no room')
      }
      expect(await flushWhile(path, writing()).catch((error: Error) => error.message)).toBe('no room')
    }),
  )

  test('throws for a file that is not there, once nobody writes any more', () =>
    inFolder(async (path) => {
      const thrown = await flushWhile(`${path}-2`, Promise.resolve()).catch((error: Error) => error.message)
      expect(thrown).toContain('ENOENT')
    }))
})

describe('a copy of a file', () => {
  const PIECE = 4_194_304

  test.each([true, false])('has the same bytes, whether it falls between pieces or not (durable: %p)', (isDurable) =>
    inFolder(async (path) => {
      for (const bytes of [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE]) {
        const content = Buffer.alloc(bytes, 'Scrip')
        writeFileSync(path, content)
        await copyBeside(path, `${path}-2`, isDurable)
        expect(readFileSync(`${path}-2`).equals(content)).toBe(true)
      }
    }),
  )

  test('is made after one that failed', () =>
    inFolder(async (path) => {
      writeFileSync(path, 'all of it')
      const failed = copyBeside(`${path}-3`, `${path}-4`, true)
      const made = copyBeside(path, `${path}-2`, true)
      expect(await failed.catch((error: Error) => error.message)).toContain('ENOENT')
      await made
      expect(readFileSync(`${path}-2`, 'utf8')).toBe('all of it')
    }))
})
