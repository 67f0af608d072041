import { describe, expect, test } from 'bun:test'
import { createDesk } from '../../src/desk/server.ts'
import { HOUR_MS } from '../../src/kernel/clock.ts'

/** The login of the desk (contract C20), with a clock of its own. */

const URL_OF_DESK = 'http://127.0.0.1:4848'

const deskAt = (clock: { nowMs: () => number }) => {
  const { openEntrance, respond } = createDesk(async () => new Response('{}'), { isReadOnly: false }, clock)
  const request = (path: string, headers: Record<string, string> = {}) =>
    respond(new Request(URL_OF_DESK + path, { headers: { host: '127.0.0.1:4848', ...headers } }), '127.0.0.1')
  const enter = async () => {
    const response = await request(openEntrance())
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    return { cookie, 'x-desk-key': /data-key="([^"]+)"/.exec(await response.text())?.[1] ?? '' }
  }
  return { request, enter }
}

describe('a login of the desk', () => {
  test('lasts twelve hours, and no longer', async () => {
    let nowMs = 0
    const { request, enter } = deskAt({ nowMs: () => nowMs })
    const session = await enter()
    nowMs = 12 * HOUR_MS - 1
    for (const path of ['/', '/data/today']) expect((await request(path, session)).status).toBe(200)
    nowMs = 12 * HOUR_MS
    for (const path of ['/', '/data/today']) expect((await request(path, session)).status).toBe(403)
    expect((await request('/data/today', await enter())).status).toBe(200)
  })

  test('needs cookie and key of the same browser', async () => {
    const { request, enter } = deskAt({ nowMs: () => 0 })
    const [one, other] = [await enter(), await enter()]
    for (const session of [one, other]) expect((await request('/data/today', session)).status).toBe(200)
    expect((await request('/data/today', { ...one, cookie: other.cookie })).status).toBe(403)
  })
})
