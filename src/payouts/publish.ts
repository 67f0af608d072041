import type { Tx } from '../db/database.ts'
import { type EventContext, publish } from '../events/publish.ts'
import { type PayoutWire, payoutWire } from './contract.ts'
import { eventsOf } from './queries.ts'
import type { PayoutEventType } from './states.ts'
import type { Payout, PayoutEvent } from './tables.ts'

/** Writes an event with the present state of a payout (contract C16), and returns that state. */
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
  // Settling continues after the required action.
  const type = change === 'resumed' ? 'payout.settling' : (`payout.${change}` as const)
  publish(tx, world, { clientId, type, record: `payout ${id}`, data, createdAtMs })
  return data
}
