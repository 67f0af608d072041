import type { Tx } from '../db/database.ts'
import { type EventContext, publish } from '../webhooks/publish.ts'
import { type PayoutWire, payoutWire } from './contract.ts'
import { eventsOf } from './queries.ts'
import type { Payout, PayoutEvent } from './tables.ts'
import type { PayoutEventType } from './transitions.ts'

/** Writes an event of a payout, as the payout is now (contract C16), and returns what it says of the payout. */
export const publishPayout = (
  tx: Tx,
  { world, reference }: EventContext,
  payout: Payout,
  change: 'created' | PayoutEventType,
  createdAtMs: number,
  events: readonly Omit<PayoutEvent, 'id'>[] = eventsOf(tx, payout.id),
): PayoutWire => {
  const { id, clientId } = payout
  const data = payoutWire(payout, events, reference)
  // Settling goes on after what it needed.
  const type = change === 'resumed' ? 'payout.settling' : (`payout.${change}` as const)
  publish(tx, world, { clientId, type, record: `payout ${id}`, data, createdAtMs })
  return data
}
