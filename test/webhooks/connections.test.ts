import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { BlockList, type Socket } from 'node:net'
import { createSender } from '../../src/webhooks/sender.ts'
import { listening } from './webhooks.ts'

/** Connections to receivers are kept, which does not affect deliveries (contract C16). */

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const DELIVERED = { status: 200, body: 'ok', error: null }
const UNANSWERED = { status: null, body: null, error: 'no HTTP response' }

/** Makes deliveries to one URL as one server does. */
const delivering = (url: string, responseMsMax?: number) => {
  const rules = { isLocal: true, loopback: 'any' as 'any' | 'none', allowed: new BlockList() }
  const send = createSender({ rules, userAgent: 'Scrip/0', ...(responseMsMax && { responseMsMax }) })
  const deliver = async () => {
    const { durationMs: _, ...response } = await send({ url, headers: {}, body: '{}' }, new AbortController().signal)
    return response
  }
  return { rules, deliver }
}

/** The results of two deliveries, and how many connections they took. */
const twice = async (reply: (socket: Socket, requests: number) => void) => {
  using receiver = await listening(reply)
  const { deliver } = delivering(receiver.url)
  return { results: [await deliver(), await deliver()], connections: receiver.sockets.length }
}

describe('A connection is used again', () => {
  test.each([
    ['with a length', OK, DELIVERED],
    ['with chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\n\r\n', DELIVERED],
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', error: null }],
    ['of a failure', 'HTTP/1.1 500 -\r\nContent-Length: 0\r\n\r\n', { status: 500, body: '', error: null }],
    ['after an interim response', `HTTP/1.1 100 Continue\r\n\r\n${OK}`, DELIVERED],
    [
      'of 1 KiB',
      `HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n${'b'.repeat(1_024)}`,
      { status: 200, body: 'b'.repeat(1_024), error: null },
    ],
  ])('after a response %s', async (_, response, result) => {
    expect(await twice((socket) => void socket.write(response))).toEqual({ results: [result, result], connections: 1 })
  })

  test('after a response that comes byte by byte', async () => {
    const reply = async (socket: Socket): Promise<void> => {
      for (const byte of OK) await new Promise((resolve) => socket.write(byte, resolve))
    }
    expect(await twice((socket) => void reply(socket))).toEqual({ results: [DELIVERED, DELIVERED], connections: 1 })
  })
})

describe('A connection is not used again', () => {
  test.each([
    ['that closes', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok', 'ok'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok'],
    ['with another behind it', OK + OK, 'ok'],
    ['with a byte behind it', `${OK}x`, 'ok'],
    [
      'with a byte behind its chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nx',
      'ok',
    ],
    [
      'with fields behind its chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\na: b\r\n\r\n',
      'ok',
    ],
    ['with two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok', 'ok'],
    [
      'with a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      'ok',
    ],
    ['of more than 1 KiB', `HTTP/1.1 200 OK\r\nContent-Length: 1025\r\n\r\n${'b'.repeat(1_025)}`, 'b'.repeat(1_024)],
    ['of 204 with a body', 'HTTP/1.1 204 -\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', ''],
  ])('after a response %s', async (_, response, body) => {
    const { results, connections } = await twice((socket) => void socket.write(response))
    expect(results.map((result) => [result.body, result.error])).toEqual([
      [body, null],
      [body, null],
    ])
    expect(connections).toBe(2)
  })

  test('on which the receiver has sent more than its response', async () => {
    using receiver = await listening((socket) => void socket.write(OK))
    const { deliver } = delivering(receiver.url)
    expect(await deliver()).toEqual(DELIVERED)
    const [first] = receiver.sockets
    first?.write('HTTP/1.1 500 -\r\nContent-Length: 0\r\n\r\n')
    await once(first as Socket, 'close')
    expect(await deliver()).toEqual(DELIVERED)
    expect(receiver.sockets).toHaveLength(2)
  })
})

describe('A receiver that closes its connection', () => {
  test('between two deliveries loses neither', async () => {
    using receiver = await listening((socket) => void socket.write(OK))
    const { deliver } = delivering(receiver.url)
    expect(await deliver()).toEqual(DELIVERED)
    receiver.sockets[0]?.end()
    expect(await deliver()).toEqual(DELIVERED)
    expect(receiver.sockets).toHaveLength(2)
  })

  test('while the next delivery is on its way gets it again over a new one', async () => {
    const reply = (socket: Socket, requests: number) => void (requests === 1 ? socket.write(OK) : socket.destroy())
    expect(await twice(reply)).toEqual({ results: [DELIVERED, DELIVERED], connections: 2 })
  })

  test('in the middle of its response has not responded, and does not get it again', async () => {
    const reply = (socket: Socket, requests: number) => void (requests === 1 ? socket.write(OK) : socket.end('HTTP/1'))
    expect(await twice(reply)).toEqual({ results: [DELIVERED, UNANSWERED], connections: 1 })
  })

  test.each([
    ['within the head', 'HTTP/1.1 202 Accepted\r\nX-', { status: 202, body: null, error: null }],
    ['where its body ends, which has no length', 'HTTP/1.0 200 OK\n\nfine', { status: 200, body: 'fine', error: null }],
    ['after what is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', UNANSWERED],
  ])('%s has responded so far', async (_, text, result) => {
    expect((await twice((socket) => void socket.end(text))).results).toEqual([result, result])
  })

  test('without a response on a new connection does not get it again', async () => {
    expect(await twice((socket) => void socket.end())).toEqual({ results: [UNANSWERED, UNANSWERED], connections: 2 })
  })
})

test.each(['', 'HTTP/1.1 2'])('A receiver that has sent %p when its time is over has not responded', async (text) => {
  using receiver = await listening((socket) => void socket.write(text))
  const { deliver } = delivering(receiver.url, 30)
  expect(await deliver()).toEqual({ status: null, body: null, error: 'no response in time' })
})

test('An address that is no longer allowed gets nothing, although a connection to it is open', async () => {
  let requests = 0
  using receiver = await listening((socket) => {
    requests += 1
    socket.write(OK)
  })
  const { rules, deliver } = delivering(receiver.url)
  expect(await deliver()).toEqual(DELIVERED)
  rules.loopback = 'none'
  expect(await deliver()).toEqual({
    status: null,
    body: null,
    error: 'the name is unknown, or leads to an address that is not allowed',
  })
  expect(requests).toBe(1)
})
