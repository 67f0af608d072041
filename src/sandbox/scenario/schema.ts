import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { ProductEntry } from '../../catalog/file-schema.ts'
import { ChargeSchema } from '../../charges/contract.ts'
import { Id, oneOf } from '../../http/schemas.ts'
import { ORDER_STATUSES } from '../../orders/queries.ts'
import { PAYOUT_STATUSES } from '../../payouts/queries.ts'
import { RuleRequest } from '../faults/operations.ts'
import { PACES } from '../worlds/pace.ts'

/** A world as one document (contract C15, decision 57): what `--scenario` and `PUT /_sandbox/scenario` take. */

/** Unknown members are refused. */
const closed = { additionalProperties: false }
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

const Time = Type.String({ description: 'an RFC 3339 time, or how long before the present of the world: -P2D, -PT90M' })
const ClientName = Type.Optional(
  Type.String({ default: 'sandbox', description: 'The name of the client that owns it' }),
)
const Amount = Type.Number({ minimum: -1_000_000_000_000_000, maximum: 1_000_000_000_000_000 })

const ClockEntry = Type.Object(
  {
    now: Type.Optional(Type.String({ description: 'an RFC 3339 time' })),
    offset_ms: Type.Optional(Type.Integer({ description: 'How far a clock that runs is ahead of the real time' })),
    frozen: Type.Optional(Type.Boolean({ default: false, description: 'Whether the clock stands still' })),
  },
  closed,
)

const PaceEntry = Type.Object(
  { payouts: Type.Optional(oneOf(PACES)), orders: Type.Optional(oneOf(PACES)) },
  { ...closed, description: 'Whether the clock moves them' },
)

const RatesEntry = Type.Object(
  { base: Type.String(), rates: Type.Record(Type.String(), Type.String()) },
  { ...closed, description: 'All exchange rates, as in a file for --rates' },
)

const ClientEntry = Type.Object(
  {
    id: Type.Optional(Id),
    name: Type.String({
      pattern: '^[a-z0-9_-]{1,50}$',
      description: 'lower-case letters, digits, - and _, at most 50',
    }),
    features: Type.Optional(Type.Object({ vouchers: Type.Optional(Type.Boolean()) }, closed)),
    max_quantity: orNull(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
    discounts: Type.Optional(
      Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 100 }), {
        description: 'Percentages by product identifier',
      }),
    ),
    rate_limit: orNull(Type.String({ description: 'As in --rate-limit' })),
    created_at: Type.Optional(Time),
  },
  closed,
)

export const WalletEntry = Type.Object(
  {
    id: Type.Optional(Id),
    client: ClientName,
    currency: Type.String({ description: 'ISO 4217' }),
    type: Type.Optional(oneOf(['PREPAID', 'POSTPAID'], { default: 'PREPAID' })),
    credit_limit: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
    amount: Type.Optional({
      ...Amount,
      default: 0,
      description: 'What can be spent now, after all orders and payouts',
    }),
    threshold: orNull(Type.Number({ description: 'Below it the wallet is low' })),
    default: Type.Optional(
      Type.Boolean({ description: 'By default, the first wallet of a client is its default one' }),
    ),
    created_at: Type.Optional(Time),
  },
  closed,
)

const { active, stock, max_quantity, gst_percent, handling_fee, denominations } = ProductEntry.properties
const ProductChangeEntry = Type.Object(
  {
    id: Id,
    active: Type.Optional(active),
    stock: Type.Optional({ ...stock, description: 'What is left, after all orders; null is unlimited' }),
    max_quantity: Type.Optional(max_quantity),
    gst_percent: Type.Optional(gst_percent),
    handling_fee: Type.Optional(handling_fee),
    denominations: Type.Optional(denominations),
  },
  closed,
)

const Person = {
  email: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  country: orNull(Type.String()),
  phone: orNull(Type.String()),
}
const Free = Type.Object({}, { additionalProperties: true })

export const BeneficiaryEntry = Type.Object(
  {
    id: Type.Optional(
      Type.String({ pattern: '^ben_[0-9a-z]{20,40}$', description: 'ben_ and 20 or more of 0-9 and a-z' }),
    ),
    client: ClientName,
    ...Person,
    metadata: orNull(Free),
    created_at: Type.Optional(Time),
  },
  closed,
)

const { charges_details } = ChargeSchema.properties
const Charges = Type.Object(
  { ...ChargeSchema.properties, charges_details: Type.Object(charges_details.properties, closed) },
  closed,
)

export const OrderEntry = Type.Object(
  {
    id: Type.Optional(Id),
    client: ClientName,
    client_reference: Type.Optional(
      Type.String({ pattern: '^[\\x20-\\x7e]{1,255}$', description: '1 to 255 printable ASCII characters' }),
    ),
    product_id: Id,
    product_name: Type.Optional(Type.String({ minLength: 1 })),
    denomination: Type.Number({ minimum: 0.01, maximum: 1_000_000_000 }),
    quantity: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
    wallet_id: Type.Optional(Id),
    email: orNull(Type.String()),
    status: Type.Optional(oneOf(ORDER_STATUSES, { default: 'DELIVERED' })),
    delivered_quantity: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Of a PARTIALLY_DELIVERED order; by default 1' }),
    ),
    refunded_vouchers: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1 }), {
        description: 'The numbers of the delivered vouchers that were refunded: 2 is the second voucher',
      }),
    ),
    failure_reason: orNull(Type.String()),
    placed_at: Type.Optional(Time),
    delivered_at: orNull(Time),
    failed_at: orNull({ ...Time, description: 'When it failed; of a PARTIALLY_DELIVERED order, when its rest did' }),
    cancelled_at: orNull(Time),
    charges: Type.Optional({
      ...Charges,
      description: 'What it cost; by default what the catalog asks for at the rates of the world',
    }),
  },
  closed,
)

const ACTORS = ['system', 'client', 'operator'] as const
const EventEntry = Type.Object(
  {
    event_type: Type.String({ description: 'created first, then any transition that a payout can make' }),
    actor_type: Type.Optional(oneOf(ACTORS)),
    message: orNull(Type.String()),
    created_at: Time,
  },
  closed,
)
const PayoutPriceEntry = Type.Object(
  {
    fees: Type.Number({ minimum: 0, description: 'In the currency of the payout' }),
    forex_rate: Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()]),
    paid: Type.Number({ description: 'What the wallet paid, in its currency, fees and conversion fee included' }),
    paid_amount: Type.Number({ minimum: 0, description: 'The part of it that is the amount' }),
    conversion_fee: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
    beneficiary_total: Type.Number({ minimum: 0, description: "In the currency of the client's default wallet" }),
  },
  closed,
)
export const PayoutEntry = Type.Object(
  {
    id: Type.Optional(
      Type.String({ pattern: '^pyt_[0-9a-z]{20,40}$', description: 'pyt_ and 20 or more of 0-9 and a-z' }),
    ),
    client: ClientName,
    reference_id: Type.Optional(Type.String({ minLength: 1 })),
    wallet_id: Type.Optional({ ...Id, description: 'By default the default wallet' }),
    amount: Type.Number(),
    currency: Type.String({ description: 'ISO 4217' }),
    beneficiary_id: Type.Optional(Type.String({ description: 'A saved beneficiary' })),
    beneficiary_email: Type.Optional(Type.String()),
    beneficiary_first_name: Type.Optional(Type.String()),
    beneficiary_last_name: Type.Optional(Type.String()),
    beneficiary_country: orNull(Type.String()),
    beneficiary_phone: orNull(Type.String()),
    beneficiary_identifiers: orNull(Free),
    description: orNull(Type.String()),
    metadata: orNull(Free),
    status: Type.Optional(oneOf(PAYOUT_STATUSES, { default: 'completed' })),
    returned: Type.Optional(Type.Boolean({ description: 'Whether a completed payout came back, late' })),
    failure_code: orNull(Type.String()),
    failure_reason: orNull(Type.String()),
    created_at: Type.Optional(Time),
    events: Type.Optional(
      Type.Array(EventEntry, { minItems: 1, description: 'By default the shortest way to the status' }),
    ),
    price: Type.Optional({ ...PayoutPriceEntry, description: 'By default what it costs at the rates of the world' }),
  },
  closed,
)

const FaultEntry = Type.Object(RuleRequest.properties, closed)

const listOf = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Optional(Type.Array(schema, { description }))

export const ScenarioSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    description: Type.Optional(Type.String({ description: 'A note, which is not stored' })),
    clock: Type.Optional(ClockEntry),
    pace: Type.Optional(PaceEntry),
    rates: Type.Optional(RatesEntry),
    clients: listOf(ClientEntry, 'In addition to sandbox and limited, which always exist'),
    wallets: listOf(WalletEntry, 'By default those of sandbox and limited'),
    products: listOf(ProductChangeEntry, 'What differs from the catalog'),
    beneficiaries: listOf(BeneficiaryEntry, 'Saved beneficiaries; their totals follow from the payouts'),
    orders: listOf(OrderEntry, 'In any state, the oldest first'),
    payouts: listOf(PayoutEntry, 'In any state, the oldest first'),
    faults: listOf(FaultEntry, 'As in POST /_sandbox/faults'),
  },
  { $id: 'https://scrip.example/scenario.schema.json', title: 'Scrip scenario', ...closed },
)

export type Scenario = Static<typeof ScenarioSchema>
export type OrderDocument = NonNullable<Scenario['orders']>[number]
export type PayoutDocument = NonNullable<Scenario['payouts']>[number]
export type WalletDocument = NonNullable<Scenario['wallets']>[number]
export type ClientDocument = NonNullable<Scenario['clients']>[number]
