import { type Static, Type } from '@sinclair/typebox'
import { searchText } from '../../db/lists.ts'
import { EVENT_PATTERNS, type EventPattern, matches } from '../../events/types.ts'
import { isObject } from '../../http/json.ts'
import { choiceFilter, plainParameter, searchFilter, textFilter } from '../../http/parameters.ts'
import { Timestamp } from '../../http/schemas.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { jsonIn } from '../../kernel/json.ts'
import { type World, worldPart } from '../../work/world.ts'
import { Recent } from '../recent.ts'
import { wake } from '../worlds/resting.ts'

/** A receiver of webhooks in each world, so that a test needs no server (contract C16). */

const NAME_LENGTH_MAX = 64
export const DELAY_MS_MAX = 60_000

export const InboxPath = Type.Object({
  name: plainParameter('Any name: a world has as many inboxes as you like', 'hooks'),
})
export type InboxReply = Static<typeof InboxReply>
export const InboxReply = Type.Object({ status: Type.Integer(), delay_ms: Type.Integer() }, { title: 'InboxReply' })
export type InboxEntry = Static<typeof InboxEntry>
export const InboxEntry = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    received_at: Timestamp,
    method: Type.String(),
    headers: Type.Record(Type.String(), Type.String(), { title: 'MessageHeaders' }),
    body: Type.String(),
  },
  { title: 'InboxEntry' },
)

export const NAME_PROBLEM = `must be at most ${NAME_LENGTH_MAX} characters long`
export const isInboxName = (name: string): boolean => name.length <= NAME_LENGTH_MAX

/** The newest are kept. */
const ENTRIES_MAX = 1_000
const BYTES_MAX = 4_194_304
/** Rough overheads in bytes of an entry, and of a header (without its name and value). */
const ENTRY_BYTES = 256
const HEADER_BYTES = 64
const REPLIES_MAX = 100
const USUAL_REPLY: InboxReply = { status: 200, delay_ms: 0 }

export const INBOX_FILTERS = {
  name: textFilter('Only messages to the inbox of this name', 'hooks'),
  type: choiceFilter(EVENT_PATTERNS, 'Only events of this type, or of these: order.* for all events of orders'),
  search: searchFilter('Part of the body; case does not matter', 'bonus-1'),
}

interface InboxFilter {
  after?: number
  name?: string
  type?: EventPattern
  /** In the form that texts are searched in. */
  search?: string
}

export const isWanted = ({ id, name, body }: InboxEntry, filter: InboxFilter): boolean =>
  (filter.after === undefined || id > filter.after) &&
  (filter.name === undefined || name === filter.name) &&
  (filter.search === undefined || searchText(body).includes(filter.search)) &&
  (filter.type === undefined || matches([filter.type], typeIn(body)))

/** The type of an event; empty for a message that is none. */
const typeIn = (body: string): string => {
  const event = jsonIn(body)
  return isObject(event) && typeof event.type === 'string' ? event.type : ''
}

type InboxListener = (entry: InboxEntry) => void

interface Inbox {
  listeners: Set<InboxListener>
  received: Recent<InboxEntry>
  replies: Map<string, InboxReply>
}

const sizeOf = ({ name, headers, body }: InboxEntry): number => {
  let size = ENTRY_BYTES + name.length + Buffer.byteLength(body)
  for (const [header, value] of Object.entries(headers)) size += HEADER_BYTES + header.length + value.length
  return size
}

const inbox = worldPart<Inbox>(() => ({
  listeners: new Set(),
  received: new Recent({ sizeOf, bytesMax: BYTES_MAX, countMax: ENTRIES_MAX }),
  replies: new Map(),
}))

/** The messages in the inboxes of a world, the oldest first. */
export const inboxOf = (world: World): Recent<InboxEntry> => world.of(inbox).received

export const replyOf = (world: World, name: string): InboxReply => world.of(inbox).replies.get(name) ?? USUAL_REPLY

export const repliesOf = (world: World): ReadonlyMap<string, InboxReply> => world.of(inbox).replies

/** With too many names, the oldest responds as usual again. */
export const setReply = (world: World, name: string, reply: Partial<InboxReply>): InboxReply => {
  const { replies } = world.of(inbox)
  const whole = { ...USUAL_REPLY, ...reply }
  replies.delete(name)
  replies.set(name, whole)
  const [oldest] = replies.keys()
  if (replies.size > REPLIES_MAX && oldest !== undefined) replies.delete(oldest)
  return whole
}

export const receive = (world: World, name: string, { method, headers }: Request, body: string): void => {
  wake(world)
  const { received, listeners } = world.of(inbox)
  const received_at = toTimestamp(world.clock.nowMs())
  const entry = { id: received.last + 1, name, received_at, method, headers: Object.fromEntries(headers), body }
  received.add(entry)
  for (const listener of listeners) listener(entry)
}

/** Calls back with each message when it is received, until it is disposed of. */
export const listenToInbox = (world: World, listener: InboxListener): Disposable => {
  const { listeners } = world.of(inbox)
  listeners.add(listener)
  return { [Symbol.dispose]: () => void listeners.delete(listener) }
}
