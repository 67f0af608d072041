import { describe, expect, test } from 'bun:test'
import { LoginFailures } from '../../src/sessions/failures.ts'
import { openRoom } from '../wallets/room.ts'

/** A world whose clock stands still. */
const opened = async () => {
  const room = openRoom()
  return { ...(await room.open('2030-01-01T12:00:00Z')), close: room.close }
}

describe('The memory of failed logins', () => {
  test('has at most 10,000 pairs of username and address, least recently used out first', async () => {
    const { world, close } = await opened()
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
    close()
  })

  test('is separate for each address', async () => {
    const { world, close } = await opened()
    const failures = new LoginFailures()
    for (let i = 0; i < 10; i++) failures.add(world, 'acme', '192.0.2.1')
    expect(failures.add(world, 'acme', '192.0.2.1')).toEqual({ retryAfterSeconds: 60 })
    expect(failures.add(world, 'acme', '192.0.2.2')).toBeUndefined()
    close()
  })
})
