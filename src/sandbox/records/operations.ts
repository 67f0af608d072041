import { type TProperties, Type } from '@sinclair/typebox'
import { EVENT_EXAMPLE, EVENT_NOT_FOUND, EventSchema } from '../../events/contract.ts'
import { listOf } from '../../http/operation.ts'
import { nullable, Timestamp } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { ORDER_EXAMPLE, OrderSchema } from '../../orders/contract.ts'
import { PayoutSchema } from '../../payouts/contract.ts'
import { WALLET_EXAMPLE, WalletSchema } from '../../wallets/contract.ts'
import { ExplainedDeliverySchema, WEBHOOK_EXAMPLE, WebhookSchema } from '../../webhooks/contract.ts'
import { controlOperation, limitUpTo, worldOperation } from '../control/operation.ts'
import { WorldQuery } from '../worlds/query.ts'
import { listed } from './wire.ts'

/** The records of all clients of a world, for people who look at it: the API shows a client only its own. */

const LIMIT_MAX = 1_000
const LIMIT_DEFAULT = 100

const Query = Type.Object({ ...WorldQuery.properties, limit: limitUpTo(LIMIT_MAX, LIMIT_DEFAULT) })

const owned = <Properties extends TProperties>(properties: Properties, title: string) =>
  Type.Object({ client_id: Type.Integer({ description: 'The client that owns it' }), ...properties }, { title })

const due = { due_at: nullable({ ...Timestamp, description: 'When the clock moves it; null when nothing is due' }) }
const dueEvent = {
  due_event: nullable(
    Type.String({
      description: 'What happens then. With a manual pace it is expired: what is not processed expires after 7 days',
    }),
  ),
}

const WorldOrder = owned(
  { ...listed(OrderSchema.properties), delivered_quantity: Type.Integer(), ...due },
  'WorldOrder',
)
const WorldPayout = owned(
  { ...PayoutSchema.properties, submitted: Type.Boolean(), returned: Type.Boolean(), ...due, ...dueEvent },
  'WorldPayout',
)
const WorldWallet = owned({ ...WalletSchema.properties, threshold: nullable(Type.Number()) }, 'WorldWallet')
const WorldEvent = owned(EventSchema.properties, 'WorldEvent')
const WorldWebhook = owned(
  {
    ...WebhookSchema.properties,
    waiting: Type.Integer({ description: 'How many deliveries wait' }),
    deliveries: Type.Array(ExplainedDeliverySchema, { description: 'The last attempts, the newest first' }),
  },
  'WorldWebhook',
)

export const listOrders = controlOperation('world_orders')({
  id: 'listWorldOrders',
  summary: 'List the orders of a world',
  description: 'Of all clients, the newest first, with when the clock moves them; without vouchers.',
  query: Query,
  success: listOf('The orders', WorldOrder, {
    client_id: 1,
    ...listed(ORDER_EXAMPLE),
    delivered_quantity: 2,
    due_at: null,
  }),
})

export const listPayouts = controlOperation('world_payouts')({
  id: 'listWorldPayouts',
  summary: 'List the payouts of a world',
  description: 'Of all clients, the newest first, each with its events and when the clock moves it.',
  query: Query,
  success: { status: 200, description: 'The payouts', schema: Type.Array(WorldPayout), example: [] },
})

export const listWallets = worldOperation('world_wallets')({
  id: 'listWorldWallets',
  summary: 'List the wallets of a world',
  description: 'Of all clients, the oldest first.',
  success: listOf('The wallets', WorldWallet, { client_id: 1, ...WALLET_EXAMPLE, threshold: null }),
})

export const listEvents = controlOperation('world_events')({
  id: 'listWorldEvents',
  summary: 'List the events of a world',
  description: 'Of all clients, the newest first.',
  query: Query,
  success: listOf('The events', WorldEvent, { client_id: 1, ...EVENT_EXAMPLE }),
})

export const redeliverEvent = worldOperation('event_redeliver')({
  id: 'redeliverWorldEvent',
  summary: 'Deliver an event again',
  description: 'To every active webhook of its client whose filter fits, or to one of them alone.',
  params: Type.Object({
    id: Type.String({ description: 'The event identifier, as a response gave it', example: EVENT_EXAMPLE.id }),
  }),
  body: Type.Object(
    { webhook_id: Type.Optional(Text({ maxLength: 64, description: 'The only webhook that gets it' })) },
    { title: 'RedeliveryRequest' },
  ),
  bodyExample: {},
  bodyOptional: true,
  success: {
    status: 202,
    description: 'How many webhooks get it',
    schema: Type.Object({ webhooks: Type.Integer() }, { title: 'Redelivery' }),
    example: { webhooks: 1 },
  },
  errors: { not_found: EVENT_NOT_FOUND },
})

export const listWebhooks = worldOperation('world_webhooks')({
  id: 'listWorldWebhooks',
  summary: 'List the webhooks of a world with their last deliveries',
  description: 'Of all clients, the newest first.',
  success: listOf('The webhooks', WorldWebhook, { client_id: 1, ...WEBHOOK_EXAMPLE, waiting: 0, deliveries: [] }),
})
