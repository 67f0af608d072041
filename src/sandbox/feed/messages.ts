import { eventWire } from '../../events/contract.ts'
import { type Event, findEvent } from '../../events/queries.ts'
import type { World } from '../../worlds/world.ts'
import { headOf, type LoggedRequest } from '../requests/request-log.ts'

/** What a feed reports: a recorded request, or an event of a world. */
export type Item = { kind: 'request'; logged: LoggedRequest } | { kind: 'event'; world: World; event: Event }

/** Server-sent events (HTML Living Standard, 9.2). JSON has no line breaks, so that one line of data is enough. */

/** How long a reader waits before it connects again, in milliseconds. */
const RETRY_MS = 1_000

const encoder = new TextEncoder()

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** What a feed begins with: the place where a reader resumes that sees nothing else. */
export const openingMessage = (last: number): Uint8Array => bytesOf(`retry: ${RETRY_MS}\nid: ${last}\n\n`)

/** Keeps connections open that would be idle. */
export const HEARTBEAT = bytesOf(':\n\n')

export const skippedMessage = (upTo: number, count: number): string =>
  `id: ${upTo}\nevent: skipped\ndata: ${JSON.stringify({ count })}\n\n`

/** Undefined for an event that was undone with its transaction. */
export const messageOf = (number: number, item: Item): string | undefined => {
  if (item.kind === 'request') return message(number, 'request', headOf(item.logged))
  const { world, event } = item
  if (!world.closed && !findEvent(world.db.query, event.clientId, event.eventId)) return undefined
  return message(number, event.type, { world: world.name, ...eventWire(event) })
}

const message = (number: number, type: string, data: object): string =>
  `id: ${number}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
