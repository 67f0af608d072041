import { afterEach } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import type { TestWorld } from '../harness.ts'

export const WEBHOOKS = '/api/v1/webhooks'

/** A webhook as it is on the wire (contract C16). */
export interface WebhookBody {
  id: string
  name: string
  url: string
  events: string[]
  signing: string
  active: boolean
  secret: string
  created_at: string
  updated_at: string
  disabled_reason: string | null
}

/** An attempt as it is on the wire (contract C16). */
export interface AttemptBody {
  id: number
  event_id: string
  event_type: string
  attempt: number
  status: string
  response_status: number | null
  duration_ms: number
  response_body: string | null
  next_attempt_at: string | null
  created_at: string
}

export interface Received {
  path: string
  headers: Headers
  body: string
  event: { id: string; type: string; created_at: string; data: Record<string, unknown> }
}

/** The reply of a receiver to a request. */
type Reply = (received: Received) => Response | Promise<Response>

/** A receiver of webhooks on this machine. */
export const openReceiver = (
  reply: Reply = () => new Response('ok'),
  tls?: { cert: string; key: string },
  hostname = '127.0.0.1',
) => {
  const received: Received[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const receiver = {
    reply,
    received,
    url: '',
    types: () => received.map(({ event }) => event.type),
    /** Resolves once this number of requests has come. */
    until: (count: number): Promise<void> =>
      received.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  const server = Bun.serve({
    hostname,
    port: 0,
    idleTimeout: 60,
    ...(tls && { tls }),
    fetch: async (request) => {
      const body = await request.text()
      const delivery = { path: new URL(request.url).pathname, headers: request.headers, body, event: JSON.parse(body) }
      received.push(delivery)
      for (const { count, resolve } of waiting) if (received.length >= count) resolve()
      return receiver.reply(delivery)
    },
  })
  receiver.url = `http${tls ? 's' : ''}://127.0.0.1:${server.port}/hooks`
  return receiver
}

/** Opens receivers that are stopped after each test. */
export const receiversOfFile = (): typeof openReceiver => {
  const receivers: Receiver[] = []
  afterEach(() => {
    for (const receiver of receivers.splice(0)) receiver.stop()
  })
  return (...options) => {
    const receiver = openReceiver(...options)
    receivers.push(receiver)
    return receiver
  }
}

export type Receiver = ReturnType<typeof openReceiver>

/** A receiver on bare sockets. It is called when a request begins, with how many its connection has had. */
export const listening = async (reply: (socket: Socket, requests: number) => void) => {
  const sockets: Socket[] = []
  const listener = createServer((socket) => {
    let requests = 0
    sockets.push(socket)
    socket.on('error', () => undefined) // the sender hangs up
    socket.on('data', (bytes) => {
      if (bytes.toString('latin1').startsWith('POST ')) reply(socket, ++requests)
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`,
    sockets,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy()
      listener.close()
    },
  }
}

/** Creates a webhook that is expected to be created. */
export const hook = async (world: TestWorld, url: string, change: object = {}): Promise<WebhookBody> => {
  const response = await world.post(WEBHOOKS, { name: 'mine', url, events: ['*'], ...change })
  if (response.status !== 201) throw new Error(`webhook: ${response.status} ${await response.text()}`)
  return (await response.json()) as WebhookBody
}

/** Asks for a change of a webhook. */
export const patchHook = (world: TestWorld, id: string, body: object): Promise<Response> =>
  world.request(`${WEBHOOKS}/${id}`, { method: 'PATCH', body: JSON.stringify(body) })

export const readHook = async (world: TestWorld, id: string): Promise<WebhookBody> =>
  await world.read<WebhookBody>(`${WEBHOOKS}/${id}`)

/** The attempts of a webhook, the oldest first. */
export const attemptsOf = async (world: TestWorld, id: string): Promise<AttemptBody[]> => {
  const response = await world.get(`${WEBHOOKS}/${id}/deliveries?limit=100`)
  if (response.status !== 200) throw new Error(`deliveries: ${response.status} ${await response.text()}`)
  return ((await response.json()) as AttemptBody[]).reverse()
}

/** Waits until nothing is left to deliver at the present time of a world. */
export const settle = async (world: TestWorld): Promise<void> => {
  const response = await world.control('/webhooks/settle')
  if (response.status !== 200) throw new Error(`settle: ${response.status} ${await response.text()}`)
}

export const fund = async (world: TestWorld, amount = 1, wallet = 1): Promise<void> => {
  const response = await world.control(`/wallets/${wallet}/fund`, { amount })
  if (response.status !== 200) throw new Error(`fund: ${response.status} ${await response.text()}`)
}
