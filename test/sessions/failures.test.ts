// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { FailedLogins } from '../../src/audit/failed-logins.ts'
import { auditRows } from '../../src/audit/queries.ts'
import { LoginFailures } from '../../src/sessions/credentials.ts'
import { forFile, openProgram } from '../harness.ts'

const program = forFile(openProgram())
const { world } = await program.open('2030-01-01T12:00:00Z')

describe('The memory of failed logins', () => {
  test('has at most 10,000 pairs of username and address, least recently used out first', () => {
    const failures = new LoginFailures()
    const failTimes = (username: string, times: number) => {
      for (let i = 1; i < times; i++) failures.add(world, username, '192.0.2.1')
      return failures.add(world, username, '192.0.2.1')
    }
    failTimes('first', 10)
    failTimes('second', 10)
    for (let i = 0; i < 9_998; i++) failures.add(world, `name ${i}`, '192.0.2.1')
    expect(failTimes('second', 1)).toEqual({ retryAfterSeconds: 60 })
    failures.add(world, 'one more', '192.0.2.1')
    expect(failTimes('first', 1)).toBeUndefined()
  })

  test('counts the addresses of one IPv6 /64 as one, however they are written', () => {
    const failures = new LoginFailures()
    const [first, ...others] = [
      '2001:db8:0:7::1',
      '2001:db8::7:0:0:0:2',
      '2001:0DB8:0:0007:ffff::',
      '2001:db8:0:7:1:2:3:4',
    ]
    for (let i = 0; i < 10; i++) failures.add(world, 'acme', first ?? '')
    for (const other of others) expect(failures.add(world, 'acme', other)).toEqual({ retryAfterSeconds: 60 })
    for (const other of ['2001:db8:0:8::1', '2001:db8::1', '::7', '64:ff9b::192.0.2.1', 'fe80::1%eth0']) {
      expect(failures.add(world, 'acme', other)).toBeUndefined()
    }
  })
})

test('Failed logins that could not be written to the audit are in its next row', async () => {
  const failed = new FailedLogins()
  failed.add('acme', '192.0.2.1')
  const refused = failed.record(world, () => {
    throw new Error('no room on the disk')
  })
  failed.add('acme', '192.0.2.1')
  await expect(refused).rejects.toThrow('no room')
  await failed.record(world, program.deps.ciphers)
  expect([...auditRows(world.db.query)].map(({ subject, after }) => [subject, after])).toEqual([
    ['acme', '{"count":2}'],
  ])
})
