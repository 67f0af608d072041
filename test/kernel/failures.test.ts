import { describe, expect, test } from 'bun:test'
import { explainFaults } from '../../src/commands/advice.ts'
import { unavailableFor } from '../../src/db/storage.ts'
import { DataFault, EXIT, refused } from '../../src/kernel/exit.ts'
import { DomainError, notFound } from '../../src/kernel/failure.ts'
import { PostgresAway } from '../../src/replication/connection.ts'

/** An operator reads a message, and gets an exit code, for each kind of failure (contract C1). */

const failureOf = async (error: unknown) => {
  const shown = await explainFaults('/data', () => {
    throw error
  }).catch((thrown: unknown) => thrown)
  const { exitCode, message } = shown as { exitCode?: number; message: string }
  return [exitCode, message]
}

const coded = (message: string, facts: { code: string; path?: string }) => Object.assign(new Error(message), facts)

describe('a command that fails', () => {
  test.each<[kind: string, error: unknown, exitCode: number | undefined, message: string]>([
    ['a refusal', refused('no\nTry this.'), EXIT.failed, 'no\nTry this.'],
    ['data that cannot be used', new DataFault('is newer\nUpdate.'), EXIT.data, '/data: is newer\nUpdate.'],
    ['data whose file is known', new DataFault('is newer').in('/data/other'), EXIT.data, '/data/other: is newer'],
    ['a failure of the API', new DomainError(notFound('Order')), EXIT.failed, 'order not found'],
    ['a server that cannot write now', unavailableFor(1), EXIT.failed, 'try again later.'],
    [
      'a record that is away',
      unavailableFor(1, new PostgresAway('no answer')),
      EXIT.failed,
      'cannot connect to PostgreSQL: no answer\nCheck that it is running and that this machine can reach it.',
    ],
    [
      'a database that another program writes',
      unavailableFor(5, coded('locked', { code: 'SQLITE_BUSY' })),
      EXIT.failed,
      '/data: another program has been writing for too long\nTry again.',
    ],
    [
      'a full disk',
      unavailableFor(5, coded('full', { code: 'SQLITE_FULL' })),
      EXIT.data,
      '/data cannot be written, because the disk is full\nMake room, and try again.',
    ],
    [
      'a file that is missing',
      coded('ENOENT', { code: 'ENOENT', path: '/data/voucher.key' }),
      EXIT.data,
      '/data/voucher.key does not exist\nCheck its name and its folder.',
    ],
    ['anything unexpected', new TypeError('of the program'), undefined, 'of the program'],
  ])('by %s says so', async (_, error, exitCode, message) => {
    expect(await failureOf(error)).toEqual([exitCode, message])
  })
})
