import { type Static, Type } from '@sinclair/typebox'
import { EVENT_EXAMPLE, EventSchema } from '../../events/contract.ts'
import { EVENT_TYPES } from '../../events/types.ts'
import { oneOf, Timestamp } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { notFound, violation } from '../../kernel/failure.ts'
import { openOperation, worldOperation } from '../control/operation.ts'
import { worldNotFound } from '../errors.ts'
import { WorldQuery } from '../worlds/query.ts'

const NAME_LENGTH_MAX = 64
const DELAY_MS_MAX = 60_000

const InboxPath = Type.Object({
  name: Type.String({ description: 'Any name: a world has as many inboxes as you like', example: 'hooks' }),
})
/** How an inbox responds. */
export type InboxReply = Static<typeof InboxReply>
const InboxReply = Type.Object({ status: Type.Integer(), delay_ms: Type.Integer() }, { title: 'InboxReply' })
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
export const receiveInInbox = openOperation({
  id: 'receiveInInbox',
  summary: 'Receive a delivery in an inbox',
  description: 'The URL of a webhook in a test. It responds as PUT has set.',
  params: InboxPath,
  query: WorldQuery,
  success: {
    status: 200,
    description: 'Received',
    schema: Type.Object({ received: Type.Boolean() }, { title: 'InboxReceipt' }),
    example: { received: true },
  },
  errors: {
    'inbox_receive.world_not_found': worldNotFound('nowhere'),
    'inbox_receive.validation': violation('name', 'max', NAME_PROBLEM),
  },
})

export const setInboxReply = worldOperation('inbox_reply')({
  id: 'setInboxReply',
  summary: 'Set the response of an inbox',
  description: 'Sets status and delay of the responses from now on: 200 at once if both are left out.',
  params: InboxPath,
  body: Type.Object(
    {
      status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
      delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: DELAY_MS_MAX })),
    },
    { title: 'InboxReplyRequest' },
  ),
  bodyExample: { status: 503 },
  bodyOptional: true,
  success: { status: 200, description: 'The response', schema: InboxReply, example: { status: 503, delay_ms: 0 } },
  errors: { validation: violation('status', 'min', 'must be at least 200') },
})

export const listInbox = worldOperation('inbox')({
  id: 'listInbox',
  summary: 'List what the inboxes of a world have received',
  description: 'The oldest first; the newest 1,000 are kept, and at most 4 MiB.',
  success: {
    status: 200,
    description: 'The deliveries, with their headers and bodies',
    schema: Type.Array(InboxEntry),
    example: [
      {
        id: 1,
        name: 'hooks',
        received_at: '2026-01-01T00:00:00.000Z',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      },
    ],
  },
})

export const clearInbox = worldOperation('inbox')({
  id: 'clearInbox',
  summary: 'Empty the inboxes of a world',
  description: 'Their responses stay as they are set.',
  success: { status: 204, description: 'The inboxes are empty' },
})

export const settleWebhooks = worldOperation('settle')({
  id: 'settleWebhooks',
  summary: 'Wait until the events of a world are delivered',
  description:
    'The response comes when nothing is left to deliver at the present time of the world. It does not wait for retries that are due later.',
  success: {
    status: 200,
    description: 'Nothing is left to deliver',
    schema: Type.Object({ settled: Type.Literal(true) }, { title: 'Settled' }),
    example: { settled: true },
  },
})

export const makeEvent = worldOperation('event_make')({
  id: 'makeEvent',
  summary: 'Make an event that changes no record',
  description: 'It is listed and delivered like any other. Without data it has an example of its type.',
  body: Type.Object(
    {
      type: oneOf(EVENT_TYPES),
      data: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { title: 'MadeEventData', description: 'The data of the event' }),
      ),
      client: Type.Optional(
        Text({
          minLength: 1,
          maxLength: 128,
          description: 'Its client, by username or id; the first one when left out',
        }),
      ),
    },
    { title: 'EventRequest' },
  ),
  bodyExample: { type: 'wallet.credited', data: EVENT_EXAMPLE.data },
  success: { status: 201, description: 'The event', schema: EventSchema, example: EVENT_EXAMPLE },
  errors: { validation: violation('type', 'required', 'is required'), not_found: notFound('Client') },
})
