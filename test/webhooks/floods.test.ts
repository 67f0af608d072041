import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { forFile, startServer, type TestWorld } from '../harness.ts'
import { attemptsOf, hook, listening, settle, WEBHOOKS } from './webhooks.ts'

/** Receivers that send much before they respond: the server must not be held up (decision 72). */

const server = forFile(await startServer('--rate-limit', 'off'))

/** Sends a piece again and again, as fast as it is read. */
const endlessly = (piece: string, first = '') => {
  const pieces = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)))
  return (socket: Socket): void => {
    const send = (): void => {
      while (!socket.destroyed) if (!socket.write(pieces)) return void socket.once('drain', send)
    }
    socket.write(first)
    send()
  }
}

/** The result of one delivery, with its reason. */
const attempted = async (world: TestWorld, url: string) => {
  const { id } = await hook(world, url)
  const path = `${WEBHOOKS}/${id}/ping`
  expect((await world.post(path)).status).toBe(202)
  await settle(world)
  const [attempt] = await attemptsOf(world, id)
  const log = await server.request(`/_sandbox/requests?world=${world.name}&path=${path}`)
  const [{ id: request }] = (await log.json()) as [{ id: string }]
  const entry = await server.request(`/_sandbox/requests/${request}?world=${world.name}`)
  const { deliveries } = (await entry.json()) as { deliveries: { error: string | null }[] }
  return { status: attempt?.response_status, body: attempt?.response_body, error: deliveries[0]?.error }
}

const INTERIM = 'HTTP/1.1 100 Continue\r\n\r\n'
const REFUSED = { status: null, body: null, error: 'no HTTP response' }

describe('A receiver that sends without end', () => {
  test.each([
    ['interim responses', endlessly(INTERIM)],
    ['interim responses with fields', endlessly('HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n')],
    ['a status line', endlessly('2', 'HTTP/1.1 ')],
    ['fields of an interim response', endlessly('a: b\r\n', 'HTTP/1.1 102 Processing\r\n')],
    ['empty lines', endlessly('\r\n')],
  ])('%s has not responded', async (_, reply) => {
    using receiver = await listening(reply)
    const world = await server.world()
    expect(await attempted(world, receiver.url)).toEqual(REFUSED)
    expect((await server.request('/status')).status).toBe(200)
  })

  test.each([
    ['a field', endlessly('b', 'HTTP/1.1 200 OK\r\na: ')],
    ['fields', endlessly('a: b\r\n', 'HTTP/1.1 200 OK\r\n')],
  ])('%s after its status has responded without a body', async (_, reply) => {
    using receiver = await listening(reply)
    expect(await attempted(await server.world(), receiver.url)).toEqual({ status: 200, body: null, error: null })
  })

  test.each([
    ['a body', endlessly('b', 'HTTP/1.1 200 OK\r\n\r\n'), 'b'.repeat(1_024)],
    ['chunks', endlessly('1\r\nb\r\n', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'), 'b'.repeat(1_024)],
  ])('%s is read for 1 KiB', async (_, reply, body) => {
    using receiver = await listening(reply)
    expect(await attempted(await server.world(), receiver.url)).toEqual({ status: 200, body, error: null })
  })
})
