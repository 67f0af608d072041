import { type TProperties, Type } from '@sinclair/typebox'
import { EVENT_NOT_FOUND } from '../../events/errors.ts'
import { EVENT_EXAMPLE, EventSchema } from '../../events/operations.ts'
import { listOf } from '../../http/operation.ts'
import { count, parameter } from '../../http/parameters.ts'
import { nullable, Timestamp } from '../../http/schemas.ts'
import { OrderSchema } from '../../orders/operations.ts'
import { PayoutSchema } from '../../payouts/operations.ts'
import { WalletSchema } from '../../wallets/operations.ts'
import { ExplainedDeliverySchema, WebhookSchema } from '../../webhooks/operations.ts'
import { controlOperation } from '../control/operation.ts'
import { WorldQuery } from '../worlds/operations.ts'

/** The records of all clients of a world, for people who look at it: the API shows a client its own alone. */

const LIMIT_MAX = 1_000
const LIMIT_DEFAULT = 100

const Query = Type.Object({
  ...WorldQuery.properties,
  limit: parameter<number>(
    Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT, description: 'Maximum number of items' }),
    count(LIMIT_MAX),
  ),
})

const owned = <Properties extends TProperties>(properties: Properties, title: string) =>
  Type.Object({ client_id: Type.Integer({ description: 'Whose it is' }), ...properties }, { title })

const due = {
  due_at: nullable({ ...Timestamp, description: 'When the clock moves it; null when nothing is due' }),
}

const { vouchers: _, charges: __, ...orderMembers } = OrderSchema.properties
const WorldOrder = owned({ ...orderMembers, delivered_quantity: Type.Integer(), ...due }, 'WorldOrder')
const WorldPayout = owned(
  { ...PayoutSchema.properties, submitted: Type.Boolean(), returned: Type.Boolean(), ...due },
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

const CREATED = '2026-01-01T00:00:00.000Z'

export const listOrders = controlOperation('world_orders')({
  id: 'listWorldOrders',
  summary: 'List the orders of a world',
  description: 'Of all clients, the newest first, with when the clock moves them; without vouchers.',
  query: Query,
  success: listOf('The orders', WorldOrder, {
    client_id: 1,
    id: 1,
    ref: 'welcome-42',
    client_reference: 'welcome-42',
    transaction_id: 6,
    product_id: 1,
    product_name: 'Kettle & Crumb India',
    denomination: 100,
    quantity: 2,
    currency_code: 'INR',
    amount: 230.1,
    refunded_amount: 0,
    discount: 5,
    wallet_id: 3,
    status: 'DELIVERED',
    email: 'ada@example.com',
    placed_at: CREATED,
    delivered_at: CREATED,
    failed_at: null,
    cancelled_at: null,
    failure_reason: null,
    delivered_quantity: 2,
    due_at: null,
  }),
  errors: {},
})

export const listPayouts = controlOperation('world_payouts')({
  id: 'listWorldPayouts',
  summary: 'List the payouts of a world',
  description: 'Of all clients, the newest first, each with its events and when the clock moves it.',
  query: Query,
  success: {
    status: 200,
    description: 'The payouts',
    schema: Type.Array(WorldPayout),
    example: [],
  },
  errors: {},
})

export const listWallets = controlOperation('world_wallets')({
  id: 'listWorldWallets',
  summary: 'List the wallets of a world',
  description: 'Of all clients, the oldest first.',
  query: WorldQuery,
  success: listOf('The wallets', WorldWallet, {
    client_id: 1,
    id: 1,
    currency_id: 139,
    currency_code: 'USD',
    amount: 100_000,
    reserved_amount: 0,
    type: 'PREPAID',
    credit_limit: 0,
    is_default: true,
    is_active: true,
    created_at: CREATED,
    updated_at: CREATED,
    threshold: null,
  }),
  errors: {},
})

export const listEvents = controlOperation('world_events')({
  id: 'listWorldEvents',
  summary: 'List the events of a world',
  description: 'Of all clients, the newest first.',
  query: Query,
  success: listOf('The events', WorldEvent, { client_id: 1, ...EVENT_EXAMPLE }),
  errors: {},
})

export const redeliverEvent = controlOperation('event_redeliver')({
  id: 'redeliverWorldEvent',
  summary: 'Deliver an event again',
  description: 'To every active webhook of its client whose filter fits.',
  params: Type.Object({
    id: Type.String({ description: 'The event identifier', example: EVENT_EXAMPLE.id }),
  }),
  query: WorldQuery,
  success: {
    status: 202,
    description: 'How many webhooks get it',
    schema: Type.Object({ webhooks: Type.Integer() }, { title: 'Redelivery' }),
    example: { webhooks: 1 },
  },
  errors: { not_found: EVENT_NOT_FOUND },
})

export const listWebhooks = controlOperation('world_webhooks')({
  id: 'listWorldWebhooks',
  summary: 'List the webhooks of a world with their last deliveries',
  description: 'Of all clients, the newest first.',
  query: WorldQuery,
  success: listOf('The webhooks', WorldWebhook, {
    client_id: 1,
    id: 'whk_0mjvbk3w00k7x2m9q4w1z8t5a',
    name: 'Fulfilment',
    url: 'http://127.0.0.1:3000/hooks',
    events: ['order.*', 'payout.completed'],
    signing: 'standard',
    active: true,
    created_at: CREATED,
    updated_at: CREATED,
    disabled_reason: null,
    waiting: 0,
    deliveries: [],
  }),
  errors: {},
})
