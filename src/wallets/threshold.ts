import type { Tx } from '../db/database.ts'
import type { EventContext } from '../webhooks/publish.ts'
import { publishWallet } from './publish.ts'
import { updateThreshold, type Wallet } from './queries.ts'

/** Sets the amount below which a wallet is low; null for none. A wallet that is low already is reported at once. */
export const setThreshold = (tx: Tx, context: EventContext, wallet: Wallet, thresholdMinor: number | null): Wallet => {
  const updated = updateThreshold(tx, wallet.id, thresholdMinor)
  if (updated.isLow && !wallet.isLow) publishWallet(tx, context, updated, 'low', context.world.clock.nowMs())
  return updated
}
