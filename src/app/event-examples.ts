import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { EVENT_EXAMPLE, EventSchema } from '../events/contract.ts'
import { EVENT_TYPES, type EventType } from '../events/types.ts'
import { ORDER_EVENT_EXAMPLES, OrderEventSchema } from '../orders/contract.ts'
import { PAYOUT_EVENT_EXAMPLES, PayoutSchema } from '../payouts/contract.ts'
import { WALLET_EXAMPLE, WalletSchema } from '../wallets/contract.ts'

/** An example of the data of each type of event, for the documentation and for events that a test makes. */

interface EventData {
  schema: TSchema
  example: object
}

const PingSchema = Type.Object({ webhook_id: Type.String() }, { title: 'PingEventData' })

const dataOf = (record: string, schema: TSchema, examples: Record<string, object>): [string, EventData][] =>
  Object.entries(examples).map(([change, example]) => [`${record}.${change}`, { schema, example }])

export const EVENT_DATA = Object.fromEntries([
  ...dataOf('order', OrderEventSchema, ORDER_EVENT_EXAMPLES),
  ...dataOf('payout', PayoutSchema, PAYOUT_EVENT_EXAMPLES),
  ...dataOf('wallet', WalletSchema, {
    credited: WALLET_EXAMPLE,
    debited: { ...WALLET_EXAMPLE, amount: 99_900, reserved_amount: 100 },
    low: { ...WALLET_EXAMPLE, amount: 400 },
  }),
  ['ping', { schema: PingSchema, example: { webhook_id: 'whk_0mjvbk3w000000x2m9q4w1z8' } }],
]) as Record<EventType, EventData>

/** `payout.action_required` is PayoutActionRequired. */
const titleOf = (type: EventType): string =>
  type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())

const deliveredEvent = (type: EventType): { title: string; schema: TObject; example: object } => {
  const { schema: data, example } = EVENT_DATA[type]
  const title = `${titleOf(type)}Event`
  return {
    title,
    schema: Type.Object({ ...EventSchema.properties, type: Type.Literal(type), data }, { title }),
    example: { ...EVENT_EXAMPLE, type, data: example },
  }
}

/** The body of a delivery by type of event. */
export const DELIVERED_EVENTS = Object.fromEntries(EVENT_TYPES.map((type) => [type, deliveredEvent(type)]))
