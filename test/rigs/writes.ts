import { type Ask, bytesOf, type Connection, type RawResponse } from './connection.ts'
import type { Dice } from './dice.ts'

/** The writes of a storm, and the checks of an acknowledged one. */

const KINDS = ['beneficiaries', 'orders', 'payouts'] as const
export type Kind = (typeof KINDS)[number]
const STATUSES: Record<Kind, number> = { beneficiaries: 201, orders: 200, payouts: 201 }
/** The share of writes with an Idempotency-Key. */
const KEYED = 0.6

export interface Write {
  kind: Kind
  name: string
  isKeyed: boolean
}

export interface Acknowledged extends Write {
  status: number
  body: string
}

export const anyWrite = (dice: Dice, name: string): Write => ({
  kind: dice.pick(KINDS),
  name,
  isKeyed: dice.chance(KEYED),
})

export const askFor = ({ kind, name, isKeyed }: Write, token: string): Ask => {
  const email = `${name}@example.com`
  const bodies: Record<Kind, object> = {
    beneficiaries: { email, first_name: 'Ada', last_name: 'Lovelace' },
    orders: { product_id: 1, denomination: 10, quantity: 1 + (name.length % 2), client_reference: name },
    payouts: {
      reference_id: name,
      wallet_id: 1,
      amount: 1.5,
      currency: name.length % 2 === 0 ? 'EUR' : 'USD',
      beneficiary_email: email,
      beneficiary_first_name: 'Ada',
      beneficiary_last_name: 'Lovelace',
    },
  }
  const headers: Record<string, string> = { Authorization: `Bearer ${token}` }
  if (isKeyed) headers['Idempotency-Key'] = `the-key-of-${name}`
  return { path: `/api/v1/${kind}`, headers, body: JSON.stringify(bodies[kind]) }
}

/** The problem with a response that has just arrived; undefined if there is none. */
export const faultIn = (write: Write, { status, body }: RawResponse): string | undefined =>
  status === STATUSES[write.kind] ? undefined : `${write.kind} ${write.name}: ${status} ${body}`

/** The members of a record that never change. */
const LASTING: Record<Kind, readonly string[]> = {
  beneficiaries: ['id', 'email', 'first_name', 'created_at'],
  orders: ['id', 'ref', 'transaction_id', 'amount', 'status', 'vouchers', 'placed_at'],
  payouts: ['id', 'reference_id', 'amount', 'fees', 'total_amount', 'created_at'],
}

/** Reads an acknowledged write from a restarted server; returns the problem. */
export const recall = async (
  connection: Connection,
  token: string,
  write: Acknowledged,
): Promise<string | undefined> => {
  if (write.isKeyed) {
    const again = await connection.send(bytesOf(askFor(write, token)))
    const isSame = again.status === write.status && again.body.toString() === write.body
    const isReplay = /\r\nidempotent-replayed: true/i.test(again.head)
    return isSame && isReplay
      ? undefined
      : `the-key-of-${write.name} gets ${again.status} ${again.body}, not ${write.body}`
  }
  const told = JSON.parse(write.body) as Record<string, unknown>
  const path = `/api/v1/${write.kind}/${told.id}`
  const found = await connection.send(bytesOf({ path, headers: { Authorization: `Bearer ${token}` } }))
  if (found.status !== 200) return `${path} was acknowledged, and is ${found.status} ${found.body}`
  const now = JSON.parse(found.body.toString()) as Record<string, unknown>
  const changed = LASTING[write.kind].filter((member) => !Bun.deepEquals(now[member], told[member]))
  return changed.length === 0
    ? undefined
    : `${path} has another ${changed.join(', ')}: ${found.body}, not ${write.body}`
}

/** Repeats a write without a response twice: its key has one effect, whether the first was done or not. */
export const retry = async (connection: Connection, token: string, write: Write): Promise<string | undefined> => {
  const first = await connection.send(bytesOf(askFor(write, token)))
  const second = await connection.send(bytesOf(askFor(write, token)))
  if (first.status !== STATUSES[write.kind]) return `a retry of ${write.name}: ${first.status} ${first.body}`
  return second.body.equals(first.body) ? undefined : `the-key-of-${write.name} gets ${first.body}, then ${second.body}`
}
