import { describe, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flushWhile } from '../../src/db/disk.ts'

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

const fileTest = (sentence: string, work: (path: string) => Promise<void>): void => test(sentence, () => inFolder(work))

describe('a file that is brought to the disk while it is written', () => {
  fileTest('waits until the file is written', async (path) => {
    const written = Promise.withResolvers<void>()
    let isFlushed = false
    const flushing = flushWhile(path, written.promise).then(() => (isFlushed = true))
    await Bun.sleep(1)
    appendFileSync(path, 'all of it')
    expect(isFlushed).toBe(false)
    written.resolve()
    expect(await flushing).toBe(true)
  })

  test.each([0, 1])('throws what the writing throws, after %d ms', (ms) =>
    inFolder(async (path) => {
      const writing = async (): Promise<void> => {
        if (ms > 0) await Bun.sleep(ms)
        throw new Error('no room')
      }
      expect(await flushWhile(path, writing()).catch((error: Error) => error.message)).toBe('no room')
    }),
  )

  fileTest('throws for a file that is not there, once nobody writes any more', async (path) => {
    const thrown = await flushWhile(`${path}-2`, Promise.resolve()).catch((error: Error) => error.message)
    expect(thrown).toContain('ENOENT')
  })
})
