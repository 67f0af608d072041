import type { Tx } from '../db/database.ts'
import { type EventContext, publish } from '../webhooks/publish.ts'
import { eventsOf } from './queries.ts'
import type { Payout } from './tables.ts'
import type { PayoutEventType } from './transitions.ts'
import { payoutWire } from './wire.ts'

/** Writes an event of a payout, as the payout is now (contract C16). */
export const publishPayout = (
  tx: Tx,
  { world, reference }: EventContext,
  payout: Payout,
  change: 'created' | PayoutEventType,
  createdAtMs: number,
): void => {
  const { id, clientId } = payout
  const data = payoutWire(payout, eventsOf(tx, id), reference)
  // Settling goes on after what it needed.
  const type = change === 'resumed' ? 'payout.settling' : (`payout.${change}` as const)
  publish(tx, world, { clientId, type, record: `payout ${id}`, data, createdAtMs })
}
