import { describe, expect, test } from 'bun:test'
import { explainFaults } from '../../src/commands/advice.ts'
import { tryLater } from '../../src/db/storage.ts'
import { lockForWriting } from '../../src/folder/lock.ts'
import { ProgramError } from '../../src/kernel/exit.ts'
import { launch, run } from '../program.ts'
import { operatorTest, stockedTest } from './live.ts'

/** Commands report a lock, a server or a folder that they cannot use in one line. */

describe('commands that write', () => {
  stockedTest('wait for each other, when no server runs', async (operator) => {
    const writeLock = lockForWriting(operator.dataDir)
    const waiting = launch(['wallet', 'fund', '1', '5', '--data-dir', operator.dataDir])
    await waiting.logged('Another command is writing to this folder. Waiting for it to finish.')
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount: 1000 }])
    writeLock?.[Symbol.dispose]()
    expect(await waiting.ended).toMatchObject({ exitCode: 0 })
    expect(await operator.json<object[]>('wallet', 'list')).toMatchObject([{ amount: 1005 }])
  })
})

describe('a command', () => {
  test('reports with exit code 1 that another program has been writing for too long', async () => {
    const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
    for (const error of [busy, tryLater(busy)]) {
      const ended = explainFaults('/data', () => Promise.reject(error)).catch((explainFaults: unknown) => explainFaults)
      expect(await ended).toEqual(
        new ProgramError(1, '/data: another program has been writing for too long\nTry again.'),
      )
    }
  })

  test('reports a full disk with exit code 4', async () => {
    const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    for (const error of [full, tryLater(full)]) {
      const ended = explainFaults('/data', () => Promise.reject(error)).catch((explainFaults: unknown) => explainFaults)
      const message = '/data cannot be written, because the disk is full\nMake room, and try again.'
      expect(await ended).toEqual(new ProgramError(4, message, { cause: full }))
    }
  })

  operatorTest('reports a folder that is a file with exit code 4', async (operator) => {
    const file = operator.file('data', 'text')
    for (const args of [
      ['client', 'add', 'acme'],
      ['wallet', 'list'],
      ['verify'],
      ['restore', file],
      ['serve', '--mode', 'live', '--port', '0'],
    ]) {
      const { exitCode, stdout, stderr } = await run([...args, '--data-dir', file])
      expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 4, stdout: '' })
      expect(stderr).toContain(file)
      expect(stderr.trim().split('\n')).toHaveLength(2)
    }
  })
})
