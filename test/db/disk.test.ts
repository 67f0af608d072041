import { describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flushWhile, releasingBeside } from '../../src/db/disk.ts'

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

/** Its space takes a moment to be given back. */
const LARGE = 16_777_216

describe('a file that is removed', () => {
  const isOpen = (path: string): boolean =>
    readdirSync('/proc/self/fd').some((descriptor) => linkOf(`/proc/self/fd/${descriptor}`)?.startsWith(path))

  test.skipIf(process.platform !== 'linux').each([LARGE, 0])(
    'is gone at once, and its space a moment later (%d bytes)',
    (bytes) =>
      inFolder(async (path) => {
        writeFileSync(path, Buffer.alloc(bytes))
        releasingBeside(path, () => rmSync(path))
        expect(existsSync(path)).toBe(false)
        while (isOpen(path)) await Bun.sleep(1)
      }),
  )

  test.skipIf(process.platform !== 'linux')('keeps its bytes if the removal fails', () =>
    inFolder(async (path) => {
      const content = Buffer.alloc(LARGE, 'Scrip')
      writeFileSync(path, content)
      const failing = (): never => {
        throw new Error('not permitted')
      }
      expect(() => releasingBeside(path, failing)).toThrow('not permitted')
      while (isOpen(path)) await Bun.sleep(1)
      expect(readFileSync(path).equals(content)).toBe(true)
    }),
  )

  test.skipIf(process.platform !== 'linux')('keeps its bytes for another name of it', () =>
    inFolder(async (path) => {
      const content = Buffer.alloc(LARGE, 'Scrip')
      writeFileSync(path, content)
      linkSync(path, `${path}-2`)
      releasingBeside(path, () => rmSync(path))
      while (isOpen(path)) await Bun.sleep(1)
      expect(readFileSync(`${path}-2`).equals(content)).toBe(true)
    }),
  )

  fileTest('may be none', async (path) => {
    rmSync(path)
    expect(() => releasingBeside(path, () => rmSync(path, { force: true }))).not.toThrow()
  })
})

const linkOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // closed meanwhile
  }
}
