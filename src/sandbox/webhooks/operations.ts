import { type Static, Type } from '@sinclair/typebox'
import { plainParameter } from '../../http/parameters.ts'
import { Timestamp } from '../../http/schemas.ts'

const NAME_LENGTH_MAX = 64
export const DELAY_MS_MAX = 60_000

export const InboxPath = Type.Object({
  name: plainParameter('Any name: a world has as many inboxes as you like', 'hooks'),
})
/** How an inbox responds. */
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

/** Open to everyone, like every receiver: the sender has no token of the sandbox. */
