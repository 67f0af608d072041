import { describe, expect, test } from 'bun:test'
import { temporaryFolder } from '../program.ts'

/** The locks of a data folder, between processes (decision 142). */

const ROUNDS = 100
const LOCKS = import.meta.resolve('../../src/db/folder-lock.ts')

/** Takes the lock of a folder at the time that it is told, and gives it back. */
const program = (take: string, folder: string): string => `
  const { ${take}: take } = await import(${JSON.stringify(LOCKS)})
  process.on('message', async (at) => {
    while (Date.now() < at);
    try {
      (await take(${JSON.stringify(folder)}))[Symbol.dispose]()
      process.send('taken')
    } catch (error) {
      process.send(error.constructor.name)
    }
  })
  process.send('ready')`

const start = (take: string, folder: string) => {
  let next = Promise.withResolvers<string>()
  const child = Bun.spawn([process.execPath, '-e', program(take, folder)], {
    ipc: (message: string) => next.resolve(message),
  })
  const takes = (at: number): Promise<string> => {
    next = Promise.withResolvers()
    child.send(at)
    return next.promise
  }
  return { child, takes, ready: next.promise }
}

describe('when two processes take a lock at the same time, one gets it at least', () => {
  test.each(['lockForReplacing', 'lockForImport', 'lockForLife'])('%s', async (take) => {
    using temporary = temporaryFolder()
    const folder = temporary.path
    const both = [start(take, folder), start(take, folder)]
    await Promise.all(both.map(({ ready }) => ready))
    for (let round = 0; round < ROUNDS; round++) {
      const at = Date.now() + 3
      expect(await Promise.all(both.map(({ takes }) => takes(at)))).toContain('taken')
    }
    for (const { child } of both) child.kill()
  })
})
