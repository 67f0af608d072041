import type { Tx } from '../db/database.ts'
import { type EventContext, publish } from '../events/publish.ts'
import { walletWire } from './contract.ts'
import { updateThreshold, type Wallet } from './queries.ts'

/** Writes an event with the present state of a wallet (contract C16). */
export const publishWallet = (
  tx: Tx,
  { world, reference }: EventContext,
  wallet: Wallet,
  change: 'credited' | 'debited' | 'low',
  createdAtMs: number,
): void => {
  const { id, clientId } = wallet
  const data = walletWire(wallet, reference)
  publish(tx, world, { clientId, type: `wallet.${change}`, record: `wallet ${id}`, data, createdAtMs })
}

/** Sets the amount below which a wallet is low; null for none. If the wallet is low now, it is reported at once. */
export const setThreshold = (tx: Tx, context: EventContext, wallet: Wallet, thresholdMinor: number | null): Wallet => {
  const updated = updateThreshold(tx, wallet.id, thresholdMinor)
  if (updated.isLow && !wallet.isLow) publishWallet(tx, context, updated, 'low', context.world.clock.nowMs())
  return updated
}
