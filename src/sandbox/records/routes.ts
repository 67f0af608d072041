import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Noun } from '../../acts/kind.ts'
import { orderActs } from '../../acts/orders.ts'
import { payoutActs } from '../../acts/payouts.ts'
import { webhookActs } from '../../acts/webhooks.ts'
import type { Query } from '../../db/database.ts'
import { searchText } from '../../db/lists.ts'
import {
  EVENT_EXAMPLE,
  EVENT_NOT_FOUND,
  EventListQuery,
  EventPath,
  EventSchema,
  eventWire,
} from '../../events/contract.ts'
import { listenToEvents } from '../../events/publish.ts'
import { type Event, findAnyEvent, latestEvents } from '../../events/queries.ts'
import { matches } from '../../events/types.ts'
import { filter, ParameterProblem, searchFilter, textFilter } from '../../http/parameters.ts'
import { nullable, Timestamp } from '../../http/schemas.ts'
import { durationIn, toTimestampOrNull } from '../../kernel/clock.ts'
import { foundOr } from '../../kernel/failure.ts'
import { toMajor } from '../../kernel/money.ts'
import { ORDER_EXAMPLE, OrderSchema, orderWire } from '../../orders/contract.ts'
import { type Order, ordersOf } from '../../orders/queries.ts'
import { actsOfOrder } from '../../orders/states.ts'
import { PayoutSchema, payoutWire } from '../../payouts/contract.ts'
import { eventsOf, type Payout, payoutsOf } from '../../payouts/queries.ts'
import { actsOfPayout, nextStatuses } from '../../payouts/states.ts'
import type { Reference } from '../../reference/reference.ts'
import { WALLET_EXAMPLE, WalletSchema, walletWire } from '../../wallets/contract.ts'
import { type Wallet, walletsOf } from '../../wallets/queries.ts'
import {
  ExplainedDeliverySchema,
  explainedAttemptWire,
  WEBHOOK_EXAMPLE,
  WebhookSchema,
  webhookWire,
} from '../../webhooks/contract.ts'
import { allWebhooks, attemptsTo, type Webhook } from '../../webhooks/queries.ts'
import { countQueued } from '../../webhooks/queue-queries.ts'
import { limitUpTo } from '../control/operation.ts'
import { caughtUpWorld, stepRoutes } from '../control/steps.ts'
import type { Parts } from '../parts.ts'
import { waitFilter } from '../waiting.ts'
import { getWorld } from '../worlds/contract.ts'
import { WorldQuery } from '../worlds/query.ts'
import { lastEventBefore } from './written-at.ts'

/** The records of all clients of a world. The API shows a client only its own. */

const LIMIT_MAX = 1_000
const LIMIT_DEFAULT = 100
const ATTEMPTS_SHOWN = 20

const LimitQuery = Type.Object({ ...WorldQuery.properties, limit: limitUpTo(LIMIT_MAX, LIMIT_DEFAULT) })

const owned = <Properties extends TProperties>(properties: Properties, title: string) =>
  Type.Object({ client_id: Type.Integer({ description: 'The client that owns it' }), ...properties }, { title })

const success = <Schema extends TSchema>(records: string, schema: Schema, example: Static<Schema>[]) => ({
  description: `The ${records}`,
  schema: Type.Array(schema),
  example,
})

const due_at = nullable({ ...Timestamp, description: 'The time at which the clock moves it; null if it does not' })

/** The verbs of the acts that a record allows and the control API has. */
const canOf = (acts: Noun, verbs: readonly string[]): string[] =>
  verbs.filter((verb) => 'operation' in (acts[verb] ?? {}))

const can = Type.Array(Type.String(), {
  description: 'The operations that its status allows, by the last word of their paths',
})

/** An order in a list: only its client sees the voucher codes, and its own page has the charges. */
const listed = <Order extends { vouchers: unknown; charges: unknown }>({ vouchers: _, charges: __, ...rest }: Order) =>
  rest

export const WorldOrder = owned(
  { ...listed(OrderSchema.properties), delivered_quantity: Type.Integer(), due_at, can },
  'WorldOrder',
)

const worldOrderWire = (order: Order, reference: Reference) => ({
  client_id: order.clientId,
  ...listed(orderWire(order, [], reference)),
  delivered_quantity: order.deliveredQuantity,
  due_at: toTimestampOrNull(order.dueAtMs),
  can: canOf(orderActs, actsOfOrder(order)),
})

const dueEvent = 'The event at that time. With a manual pace it is expired: an unprocessed payout expires after 7 days'
export const WorldPayout = owned(
  {
    ...PayoutSchema.properties,
    submitted: Type.Boolean(),
    returned: Type.Boolean(),
    due_at,
    due_event: nullable(Type.String({ description: dueEvent })),
    can,
    next: Type.Array(Type.String(), { description: 'The statuses that one step of advance can lead to' }),
  },
  'WorldPayout',
)

const worldPayoutWire = (query: Query, payout: Payout, reference: Reference) => ({
  client_id: payout.clientId,
  ...payoutWire(payout, eventsOf(query, payout.id), reference),
  submitted: payout.submittedAtMs !== null,
  returned: payout.returned,
  due_at: toTimestampOrNull(payout.dueAtMs),
  due_event: payout.dueEvent,
  can: canOf(payoutActs, actsOfPayout(payout)),
  next: nextStatuses(payout),
})

export const WorldWallet = owned({ ...WalletSchema.properties, threshold: nullable(Type.Number()) }, 'WorldWallet')

const worldWalletWire = (wallet: Wallet, reference: Reference) => {
  const { precision } = reference.shownCurrency(wallet.currencyId)
  const threshold = wallet.thresholdMinor === null ? null : toMajor(wallet.thresholdMinor, precision)
  return { client_id: wallet.clientId, ...walletWire(wallet, reference), threshold }
}

export const WorldWebhook = owned(
  {
    ...WebhookSchema.properties,
    waiting: Type.Integer({ description: 'The number of waiting deliveries' }),
    deliveries: Type.Array(ExplainedDeliverySchema, { description: 'The last attempts, the newest first' }),
  },
  'WorldWebhook',
)

const worldWebhookWire = (query: Query, webhook: Webhook) => ({
  client_id: webhook.clientId,
  ...webhookWire(webhook),
  waiting: countQueued(query, { webhookId: webhook.id, droppedTo: webhook.droppedTo }),
  deliveries: Array.from(
    attemptsTo(query, webhook.id, { limit: ATTEMPTS_SHOWN, newestFirst: true }),
    explainedAttemptWire,
  ),
})

/** @throws DomainError not_found */
const numberOf = (query: Query, eventId: string): number => foundOr(findAnyEvent(query, eventId), EVENT_NOT_FOUND).id

const sinceFilter = filter<number>(
  Type.String({
    pattern: '^[1-9]\\d{0,6}[smhd]$',
    description:
      'Only those that this process has written in the last 10m of real time, whatever the clock of the world says',
    example: '10m',
  }),
  (text) => durationIn(text) ?? new ParameterProblem('format', 'must be a time like 30s, 10m or 2h'),
)

const Redelivery = Type.Object({ webhooks: Type.Integer() }, { title: 'Redelivery' })

const redeliveryRoutes = (parts: Parts) =>
  stepRoutes(parts, [webhookActs.redeliver], {
    params: EventPath,
    example: { webhooks: 1 },
    response: { status: 202, description: 'The number of webhooks that get it', schema: Redelivery },
    wire: (_event, _reference, webhooks) => ({ webhooks }),
    onDone: (world) => {
      parts.deliveries.watch(world)
      parts.deliveries.wake()
    },
  })

export const recordRoutes = (parts: Parts) => {
  const { reference, waiting, worlds } = parts
  const rowsIn = async (world: string): Promise<Query> => (await caughtUpWorld(parts, world)).db.query
  return redeliveryRoutes(parts)
    .get(
      '/orders',
      async ({ query: { world, limit } }) =>
        Array.from(ordersOf(await rowsIn(world), { limit, newestFirst: true }), (order) =>
          worldOrderWire(order, reference),
        ),
      {
        id: 'listWorldOrders',
        summary: 'List the orders of a world',
        description: 'Of all clients, the newest first, with when the clock moves them; without vouchers.',
        names: 'world_orders.',
        query: LimitQuery,
        response: success('orders', WorldOrder, [
          { client_id: 1, ...listed(ORDER_EXAMPLE), delivered_quantity: 2, due_at: null, can: ['refund'] },
        ]),
      },
    )
    .get(
      '/payouts',
      async ({ query: { world, limit } }) => {
        const rows = await rowsIn(world)
        return Array.from(payoutsOf(rows, { limit, newestFirst: true }), (payout) =>
          worldPayoutWire(rows, payout, reference),
        )
      },
      {
        id: 'listWorldPayouts',
        summary: 'List the payouts of a world',
        description: 'Of all clients, the newest first, each with its events and when the clock moves it.',
        names: 'world_payouts.',
        query: LimitQuery,
        response: success('payouts', WorldPayout, []),
      },
    )
    .get(
      '/wallets',
      async ({ query: { world } }) =>
        Array.from(walletsOf(await rowsIn(world), {}), (wallet) => worldWalletWire(wallet, reference)),
      {
        id: 'listWorldWallets',
        summary: 'List the wallets of a world',
        description: 'Of all clients, the oldest first.',
        names: 'world_wallets.',
        response: success('wallets', WorldWallet, [{ client_id: 1, ...WALLET_EXAMPLE, threshold: null }]),
      },
    )
    .get(
      '/events',
      async ({ query: { world: name, wait: waitMs, after: afterId, limit, search, since: sinceMs, type } }) => {
        const world = getWorld(worlds, name)
        const isFound = ({ data }: Event): boolean => search === undefined || searchText(data).includes(search)
        const read = async () => {
          const rows = await rowsIn(name)
          const after = afterId === undefined ? 0 : numberOf(rows, afterId)
          const before = sinceMs === undefined ? 0 : lastEventBefore(world, sinceMs)
          if (before === undefined) return []
          const newer = latestEvents(rows, {
            after: Math.max(after, before),
            type,
            ...(!search && { limit }),
          })
          return [...Iterator.from(newer).filter(isFound).take(limit)]
        }
        const listen = (onCome: () => void) =>
          listenToEvents(world, (event) => matches([type ?? '*'], event.type) && isFound(event) && onCome())
        const found = await waiting.list({ world, waitMs, read, listen })
        return found.map((event) => ({ client_id: event.clientId, ...eventWire(event) }))
      },
      {
        id: 'listWorldEvents',
        summary: 'List the events of a world, or wait for one',
        description: 'Of all clients, the newest first.',
        names: 'world_events.',
        query: Type.Object({
          ...LimitQuery.properties,
          type: EventListQuery.properties.type,
          search: searchFilter('Part of the data; case does not matter', 'bonus-1'),
          after: textFilter('Only those that are newer than the one with this id', EVENT_EXAMPLE.id),
          since: sinceFilter,
          wait: waitFilter,
        }),
        response: success('events', owned(EventSchema.properties, 'WorldEvent'), [{ client_id: 1, ...EVENT_EXAMPLE }]),
        refuses: { not_found: EVENT_NOT_FOUND },
      },
    )
    .get(
      '/webhooks',
      async ({ query: { world } }) => {
        const rows = await rowsIn(world)
        return allWebhooks(rows).map((webhook) => worldWebhookWire(rows, webhook))
      },
      {
        id: 'listWorldWebhooks',
        summary: 'List the webhooks of a world with their last deliveries',
        description: 'Of all clients, the newest first.',
        names: 'world_webhooks.',
        response: success('webhooks', WorldWebhook, [{ client_id: 1, ...WEBHOOK_EXAMPLE, waiting: 0, deliveries: [] }]),
      },
    )
}
