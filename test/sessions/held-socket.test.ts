import { describe, expect, test } from 'bun:test'
import { UNAUTHORIZED } from '../errors.ts'
import { forFile } from '../harness.ts'
import { HUNDRED } from '../records.ts'
import { Connection, listening } from '../socket.ts'

const server = forFile(await listening('--rate-limit', '1000000/d'))

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })

const PAYOUT = JSON.stringify({ ...HUNDRED, reference_id: 'held back' })

describe('A request with a length that sends half of its body', () => {
  test('401 after a logout: nothing is paid', async () => {
    const logIn = async () =>
      (
        (await (await post('/auth/login', { username: 'sandbox', password: 'sandbox' })).json()) as {
          access_token: string
        }
      ).access_token
    const authorization = `Bearer ${await logIn()}`
    const remaining = async () =>
      Number(
        (await fetch(`${server.url}/api/v1/countries/1`, { headers: { authorization } })).headers.get(
          'x-ratelimit-remaining',
        ),
      )
    const before = await remaining()
    const connection = await Connection.open(server.url)
    const half = PAYOUT.length >> 1
    connection.send(
      `POST /api/v1/payouts HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Length: ${PAYOUT.length}\r\n\r\n${PAYOUT.slice(0, half)}`,
    )
    // It is let in once it has taken a token of the buckets.
    for (let looks = 1; (await remaining()) === before - looks; looks++) await Bun.sleep(1)
    expect((await post('/auth/logout', undefined, { authorization })).status).toBe(200)
    connection.send(PAYOUT.slice(half))
    const { status, body } = await connection.response()
    expect(status).toBe(401)
    expect(JSON.parse(body)).toEqual(UNAUTHORIZED)
    connection.destroy()
    const again = { headers: { authorization: `Bearer ${await logIn()}` } }
    expect(await (await fetch(`${server.url}/api/v1/payouts`, again)).json()).toEqual([])
  })
})
