import { setTimeout as sleep } from 'node:timers/promises'
import { sandboxAccessOf } from '../../config/config.ts'
import type { ListenOptions, TriggerOptions } from '../../config/option-table.ts'
import { EVENT_PATTERNS, EVENT_TYPES, matches } from '../../events/types.ts'
import { SECOND_MS } from '../../kernel/clock.ts'
import { misused, refused } from '../../kernel/exit.ts'
import { visible } from '../../kernel/visible.ts'
import { messagesIn } from '../../sandbox/feed/messages.ts'
import { ALL_WORLDS } from '../../sandbox/worlds/query.ts'
import { isSignedBy } from '../../webhooks/signing.ts'
import { print } from '../terminal/output.ts'
import { fetchDirectly } from './http-client.ts'
import { bodyOf, SandboxClient } from './sandbox-client.ts'

/** `scrip listen` and `scrip trigger`: the events of a sandbox in a terminal, and at a receiver (contract C16). */

interface Received {
  id: string
  type: string
  created_at: string
}

const UNAUTHORIZED = 401
const NOT_REACHED = 502
/** Far more than the largest event, which has some kilobytes. */
const EVENT_BYTES_MAX = 1_048_576
/** The pause between checks that the sandbox still has the webhook. */
const LOOK_MS = 2_000

/** Prints each event until it is stopped, and passes it on. The delivery gets the response of the receiver. */
export const listen = async (options: ListenOptions): Promise<void> => {
  if (options.world === ALL_WORLDS) return listenToAll(options)
  const client = new SandboxClient(sandboxAccessOf(options))
  bodyOf(await client.control('GET', '/clock')) // a login would make the world that a wrong name asks for
  // An event can come before the response that has the secret.
  const secret = Promise.withResolvers<string>()
  /** The events that were there before, once they are printed. */
  const earlier = Promise.withResolvers<ReadonlySet<string>>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    maxRequestBodySize: EVENT_BYTES_MAX,
    error: () => refusal(),
    fetch: async (request) => {
      const body = await request.text()
      if (!isSignedBy([await secret.promise], 'standard', request.headers, body)) return refusal()
      const event = JSON.parse(body) as Received
      const response = options.forward === undefined ? undefined : await forward(options.forward, request, body)
      if (!(await earlier.promise).has(event.id)) printed(lineOf(event, response?.status))
      return response ?? new Response()
    },
  })
  const stopped = Promise.withResolvers<Error | undefined>()
  /** Without its reader, it has nothing to listen for. */
  const printed = (text: string): void =>
    void print(text).then((isRead) => isRead || stopped.resolve(undefined), stopped.resolve)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopped.resolve(undefined))
  try {
    const url = `http://127.0.0.1:${server.port}/`
    const events = patternsOf(options)
    const created = await client.send('POST', '/api/v1/webhooks', { name: 'scrip listen', url, events })
    const webhook = created as { id: string; secret: string }
    secret.resolve(webhook.secret)
    printed(`secret ${visible(webhook.secret)}\n`)
    const past = await eventsSince(client, options)
    for (const event of past) printed(lineOf(event))
    earlier.resolve(new Set(past.map(({ id }) => id)))
    const fault = await Promise.race([stopped.promise, watch(client, webhook.id)])
    await client.send('DELETE', `/api/v1/webhooks/${webhook.id}`)
    if (fault) throw fault
  } finally {
    await server.stop(true)
  }
}

const patternsOf = ({ events }: ListenOptions): string[] => events.split(',').map((pattern) => pattern.trim())

/** The events of the time that `--since` names, the oldest first. */
const eventsSince = async (client: SandboxClient, options: ListenOptions, world?: string): Promise<Received[]> => {
  if (options.since === undefined) return []
  const query = `limit=1000&since=${Math.ceil(options.since / SECOND_MS)}s`
  const events = bodyOf<Received[]>(
    await client.control('GET', `/events?${query}`, world === undefined ? {} : { world }),
  )
  return events.filter(({ type }) => matches(patternsOf(options), type)).toReversed()
}

/** Prints the events of all worlds: a webhook, and the secret that it signs with, belong to one. @throws ProgramError */
const listenToAll = async (options: ListenOptions): Promise<void> => {
  if (options.forward !== undefined)
    throw misused("--forward needs one world, whose secret signs\nLeave it out, or give one world instead of '*'.")
  const patterns = patternsOf(options)
  const unknown = patterns.find((pattern) => !EVENT_PATTERNS.some((known) => known === pattern))
  if (unknown !== undefined)
    throw misused(`--events ${unknown} selects no event\nIt is one of ${EVENT_PATTERNS.join(', ')}.`)
  const client = new SandboxClient(sandboxAccessOf(options))
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopped.abort())
  const earlier = new Set<string>()
  try {
    for await (const messages of messagesIn(await client.feed(stopped.signal))) {
      const lines: string[] = []
      const add = (event: Received, world: string): void =>
        void lines.push(`${lineOf(event).trimEnd()}  ${visible(world)}\n`)
      // The first message comes when the feed is open: no event is missed between it and the earlier ones.
      if (options.since !== undefined && messages.some(({ data }) => data === undefined)) {
        const worlds = bodyOf<{ name: string }[]>(await client.control('GET', '/worlds', { world: 'default' }))
        for (const { name } of worlds) {
          for (const event of await eventsSince(client, options, name)) {
            earlier.add(event.id)
            add(event, name)
          }
        }
      }
      for (const { event: type, data } of messages) {
        if (!isEvent(type) || !matches(patterns, type)) continue
        const event = data as Received & { world: string }
        if (!earlier.has(event.id)) add(event, event.world)
      }
      if (lines.length > 0 && !(await print(lines.join('')))) stopped.abort()
    }
  } catch (error) {
    if (!stopped.signal.aborted) throw error
  }
  if (!stopped.signal.aborted)
    throw refused('there are no more events: the sandbox has stopped\nRun scrip listen again.')
}

const isEvent = (name: string): boolean => EVENT_TYPES.some((type) => type === name)

/** Rejects once the stream has ended. @throws ProgramError */
const watch = async (client: SandboxClient, id: string): Promise<never> => {
  for (;;) {
    await sleep(LOOK_MS, undefined, { ref: false })
    const webhooks = bodyOf<{ id: string }[]>(await client.control('GET', '/webhooks'))
    if (webhooks.some((webhook) => webhook.id === id)) continue
    throw refused(
      'there are no more events: the sandbox was restarted, or its world was reset\nRun scrip listen again; it has a new secret.',
    )
  }
}

/** Makes an event of a type and prints its id. */
export const trigger = async (type: string, options: TriggerOptions): Promise<void> => {
  const client = new SandboxClient(sandboxAccessOf(options))
  const { id } = bodyOf<{ id: string }>(await client.control('POST', '/events', { body: { type } }))
  await print(`${visible(id)}\n`, `The event ${visible(id)} was published`)
}

const refusal = (): Response =>
  new Response('not signed by the server that scrip listen listens to\n', { status: UNAUTHORIZED })

/** The response of the receiver, for the list of deliveries; 502 if it cannot be reached. */
const forward = async (url: string, { headers }: Request, body: string): Promise<Response> => {
  const passed = new Headers(headers)
  for (const name of ['host', 'connection', 'content-length']) passed.delete(name)
  try {
    const response = await fetchDirectly(
      new Request(url, { method: 'POST', headers: passed, body, redirect: 'manual' }),
    )
    return new Response((await response.text()) || null, { status: response.status })
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    return new Response(`${url} cannot be reached: ${cause}`, { status: NOT_REACHED })
  }
}

/** Time, type, id, and the status of the receiver if there is one. */
const lineOf = ({ created_at, type, id }: Received, status?: number): string => {
  const cells = [visible(created_at), visible(type).padEnd('order.partially_delivered'.length), visible(id)]
  return `${[...cells, ...(status === undefined ? [] : [status])].join('  ')}\n`
}
