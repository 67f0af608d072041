import { Elysia } from 'elysia'
import { EVENT_DATA } from '../../app/event-examples.ts'
import { eventWire } from '../../events/contract.ts'
import type { EventType } from '../../events/types.ts'
import { readText } from '../../http/body.ts'
import { DomainError, notFound, violated } from '../../kernel/failure.ts'
import { allClients } from '../../sessions/queries.ts'
import { publish } from '../../webhooks/publish.ts'
import type { World } from '../../worlds/world.ts'
import { caughtUpWorld, presentWorld } from '../control/operator.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/operations.ts'
import { wake } from '../worlds/resting.ts'
import type { SandboxWorlds } from '../worlds/worlds.ts'
import { inboxOf, receive, replyOf, setReply } from './inbox.ts'
import * as operations from './operations.ts'

/** The receiver of each world, which is open to everyone. */
export const inboxReceiver = ({ worlds }: Parts) =>
  new Elysia({ name: 'sandbox-inbox-receiver', prefix: '/_sandbox/inbox' }).post(
    '/:name',
    async ({ params, query, request, set }) => {
      const world = getWorld(worlds, query.world)
      const name = inboxName(params.name)
      receive(world, name, request, await readText(request))
      const { status, delay_ms } = replyOf(world, name)
      if (delay_ms > 0) await Bun.sleep(delay_ms)
      set.status = status
      return { received: true }
    },
    operations.receiveInInbox,
  )

/** @throws DomainError validation */
const inboxName = (name: string): string => {
  if (!operations.isInboxName(name)) throw violated('name', 'max', operations.NAME_PROBLEM)
  return name
}

export const inboxRoutes = ({ worlds }: Parts) =>
  new Elysia({ name: 'sandbox-inbox' })
    .get('/inbox', ({ query }) => [...awakeInbox(worlds, query.world).items], operations.listInbox)
    .delete(
      '/inbox',
      ({ query }) => {
        awakeInbox(worlds, query.world).forget()
      },
      operations.clearInbox,
    )
    .put(
      '/inbox/:name',
      ({ params, query, body }) => setReply(getWorld(worlds, query.world), inboxName(params.name), body),
      operations.setInboxReply,
    )

const awakeInbox = (worlds: SandboxWorlds, name: string) => {
  const world = getWorld(worlds, name)
  wake(world)
  return inboxOf(world)
}

export const webhookRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-webhooks' })
    .post(
      '/webhooks/settle',
      async ({ query }) => {
        const world = await caughtUpWorld(parts, query.world)
        await parts.deliveries.settled(world)
        return { settled: true as const }
      },
      operations.settleWebhooks,
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
      operations.makeEvent,
    )

/** The client with a username or an id; without either the first one. @throws DomainError not_found */
const clientIn = (world: World, wanted: string | undefined): number => {
  const clients = allClients(world.db.query)
  const named = wanted?.replace(`sbx_${world.name}.`, '')
  const client =
    wanted === undefined ? clients[0] : clients.find(({ id, username }) => [username, `${id}`].includes(named ?? ''))
  if (!client) throw new DomainError(notFound('Client'))
  return client.id
}

/** An event of a real record is delivered in order with its others. */
const recordOf = (type: EventType, data: object): string => {
  const [kind] = type.split('.')
  return `${kind} ${'id' in data ? String(data.id) : ''}`
}
