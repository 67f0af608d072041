import { Type } from '@sinclair/typebox'
import { EVENT_DATA } from '../../app/event-examples.ts'
import { EVENT_EXAMPLE, EventSchema, eventWire } from '../../events/contract.ts'
import { publish } from '../../events/publish.ts'
import { EVENT_TYPES, type EventType } from '../../events/types.ts'
import { readText } from '../../http/body.ts'
import { parseId } from '../../http/parameters.ts'
import { oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { DomainError, notFound, violated, violation } from '../../kernel/failure.ts'
import { findAnyClient, findCredentials, findFirstClient } from '../../sessions/queries.ts'
import type { World } from '../../work/world.ts'
import { afterFilter, controlRoutes, openRoutes } from '../control/operation.ts'
import { caughtUpWorld, presentWorld } from '../control/steps.ts'
import { worldNotFound } from '../errors.ts'
import type { Parts } from '../parts.ts'
import { waitFilter } from '../waiting.ts'
import { getWorld } from '../worlds/contract.ts'
import { WorldQuery } from '../worlds/query.ts'
import { wake } from '../worlds/resting.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'
import {
  DELAY_MS_MAX,
  INBOX_FILTERS,
  InboxEntry,
  InboxPath,
  InboxReply,
  inboxOf,
  isInboxName,
  isWanted,
  listenToInbox,
  NAME_PROBLEM,
  receive,
  replyOf,
  setReply,
} from './inbox.ts'

/** The receiver of each world, which is open to everyone. */
export const inboxReceiver = ({ worlds }: Parts) =>
  openRoutes('/_sandbox/inbox', 'inbox_receive.').post(
    '/:name',
    async (incoming) => {
      const { params, query, request, set } = incoming
      const world = getWorld(worlds, query.world)
      const name = inboxName(params.name)
      receive(world, name, request, await readText(incoming))
      const { status, delay_ms } = replyOf(world, name)
      if (delay_ms > 0) await Bun.sleep(delay_ms)
      set.status = status
      return { received: true }
    },
    {
      id: 'receiveInInbox',
      summary: 'Receive a delivery in an inbox',
      description: 'The URL of a webhook in a test. It responds as PUT has set.',
      names: 'inbox_receive.',
      params: InboxPath,
      query: WorldQuery,
      response: {
        description: 'Received',
        schema: Type.Object({ received: Type.Boolean() }, { title: 'InboxReceipt' }),
        example: { received: true },
      },
      refuses: { world_not_found: worldNotFound('nowhere'), validation: violation('name', 'max', NAME_PROBLEM) },
    },
  )

/** @throws DomainError validation */
const inboxName = (name: string): string => {
  if (!isInboxName(name)) throw violated('name', 'max', NAME_PROBLEM)
  return name
}

export const inboxRoutes = ({ worlds, waiting }: Parts) =>
  controlRoutes('inbox.')
    .get(
      '/inbox',
      async ({ query: { world: name, wait: waitMs, ...filter } }) => {
        const world = getWorld(worlds, name)
        const isMeant = (entry: InboxEntry): boolean => isWanted(entry, filter)
        return [
          ...(await waiting.list({
            world,
            waitMs,
            read: () => awakeInbox(worlds, name).items.filter(isMeant),
            listen: (onCome) => listenToInbox(world, (entry) => isMeant(entry) && onCome()),
          })),
        ]
      },
      {
        id: 'listInbox',
        summary: 'List the messages in the inboxes of a world, or wait for one',
        description: 'The oldest first; the newest 1,000 are kept, and at most 4 MiB.',
        query: Type.Object({
          ...WorldQuery.properties,
          ...INBOX_FILTERS,
          after: afterFilter,
          wait: waitFilter,
        }),
        response: {
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
      },
    )
    .delete(
      '/inbox',
      ({ query }) => {
        awakeInbox(worlds, query.world).forget()
      },
      {
        id: 'clearInbox',
        summary: 'Empty the inboxes of a world',
        description: 'Their responses stay as they are set.',
        response: { status: 204, description: 'The inboxes are empty' },
      },
    )
    .put(
      '/inbox/:name',
      ({ params, query, body }) => setReply(getWorld(worlds, query.world), inboxName(params.name), body),
      {
        id: 'setInboxReply',
        summary: 'Set the response of an inbox',
        description: 'Sets status and delay of the responses from now on: 200 without delay if both are left out.',
        names: 'inbox_reply.',
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
        response: { description: 'The response', schema: InboxReply, example: { status: 503, delay_ms: 0 } },
        refuses: { validation: violation('status', 'min', 'must be at least 200') },
      },
    )

const awakeInbox = (worlds: SandboxWorlds, name: string) => {
  const world = getWorld(worlds, name)
  wake(world)
  return inboxOf(world)
}

export const webhookRoutes = (parts: Parts) =>
  controlRoutes()
    .post(
      '/webhooks/settle',
      async ({ query }) => {
        const world = await caughtUpWorld(parts, query.world)
        await parts.deliveries.settled(world)
        return { settled: true as const }
      },
      {
        id: 'settleWebhooks',
        summary: 'Wait until the events of a world are delivered',
        description:
          'The response comes when nothing is left to deliver at the present time of the world. It does not wait for retries that are due later.',
        names: 'settle.',
        response: {
          description: 'Nothing is left to deliver',
          schema: Type.Object({ settled: Type.Literal(true) }, { title: 'Settled' }),
          example: { settled: true },
        },
      },
    )
    .post(
      '/events',
      async ({ query, body: { type, client, data = EVENT_DATA[type].example }, set }) => {
        const world = await presentWorld(parts, query.world)
        parts.deliveries.watch(world)
        const clientId = clientIn(world, client)
        const record = recordOf(type, data)
        const createdAtMs = world.clock.nowMs()
        const event = await world.db.write((tx) => publish(tx, world, { clientId, type, record, data, createdAtMs }))
        set.headers.Location = `/api/v1/events/${event.eventId}`
        return eventWire(event)
      },
      {
        id: 'makeEvent',
        summary: 'Publish an event without changing a record',
        description: 'It is listed and delivered like any other. Without data it has an example of its type.',
        names: 'event_make.',
        body: Type.Object(
          {
            type: oneOf(EVENT_TYPES),
            data: Type.Optional(
              Type.Record(Type.String(), Type.Unknown(), {
                title: 'MadeEventData',
                description: 'The data of the event',
              }),
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
        response: { status: 201, description: 'The event', schema: EventSchema, example: EVENT_EXAMPLE },
        refuses: { validation: violation('type', 'required', 'is required'), not_found: notFound('Client') },
      },
    )

/** The client with a username or an id; without either the first one. @throws DomainError not_found */
const clientIn = (world: World, name: string | undefined): number => {
  const { query } = world.db
  const named = name?.replace(`sbx_${world.name}.`, '')
  const client =
    named === undefined
      ? findFirstClient(query)
      : (findCredentials(query, named) ?? findAnyClient(query, parseId(named) ?? 0))
  if (!client) throw new DomainError(notFound('Client'))
  return client.id
}

/** An event of a real record is delivered in order with its others. */
const recordOf = (type: EventType, data: object): string => {
  const [kind] = type.split('.')
  return `${kind} ${'id' in data ? String(data.id) : ''}`
}
