import { toTimestamp } from '../../kernel/clock.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { InboxEntry, InboxReply } from './operations.ts'

/** A receiver of webhooks in each world, so that a test needs none of its own (contract C16). */

/** The newest are kept. */
const ENTRIES_MAX = 1_000
const CHARACTERS_MAX = 4_194_304
const REPLIES_MAX = 100
const USUAL_REPLY: InboxReply = { status: 200, delay_ms: 0 }

interface Inbox {
  entries: InboxEntry[]
  characters: number
  lastId: number
  replies: Map<string, InboxReply>
}

const inbox = worldPart<Inbox>(() => ({ entries: [], characters: 0, lastId: 0, replies: new Map() }))

export const inboxOf = (world: World): readonly InboxEntry[] => world.of(inbox).entries

export const clearInbox = (world: World): void => void Object.assign(world.of(inbox), { entries: [], characters: 0 })

export const replyOf = (world: World, name: string): InboxReply => world.of(inbox).replies.get(name) ?? USUAL_REPLY

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
  const own = world.of(inbox)
  const received_at = toTimestamp(world.clock.nowMs())
  own.entries.push({ id: ++own.lastId, name, received_at, method, headers: Object.fromEntries(headers), body })
  own.characters += body.length
  while (own.entries.length > ENTRIES_MAX || (own.characters > CHARACTERS_MAX && own.entries.length > 1)) {
    own.characters -= own.entries.shift()?.body.length ?? 0
  }
}
