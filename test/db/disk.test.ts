import { describe, expect } from 'bun:test'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flushWhile } from '../../src/db/disk.ts'
import { folderTest } from '../program.ts'

/** What is brought to the disk beside the thread that serves requests. */

const fileTest = (sentence: string, work: (path: string) => Promise<void>): void =>
  folderTest(sentence, async (folder) => {
    const path = join(folder, 'copy')
    writeFileSync(path, '')
    await work(path)
  })

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

  fileTest('throws what the writing throws, at once or after a while', async (path) => {
    for (const ms of [0, 1]) {
      const writing = async (): Promise<void> => {
        if (ms > 0) await Bun.sleep(ms)
        throw new Error('no room')
      }
      expect(await flushWhile(path, writing()).catch((error: Error) => error.message)).toBe('no room')
    }
  })

  fileTest('throws for a file that is not there, once nobody writes any more', async (path) => {
    const thrown = await flushWhile(`${path}-2`, Promise.resolve()).catch((error: Error) => error.message)
    expect(thrown).toContain('ENOENT')
  })
})
