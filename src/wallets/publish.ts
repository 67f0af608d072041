import type { Tx } from '../db/database.ts'
import { type EventContext, publish } from '../webhooks/publish.ts'
import type { Wallet } from './queries.ts'
import { walletWire } from './wire.ts'

/** Writes an event of a wallet, as the wallet is now (contract C16). */
export const publishWallet = (
  tx: Tx,
  { world, reference }: EventContext,
  wallet: Wallet,
  change: 'credited' | 'debited' | 'low',
  createdAtMs: number,
  /** Of the order or payout that moved the wallet. */
  sourceId: string | null = null,
): void => {
  const { id, clientId } = wallet
  const data = walletWire(wallet, reference)
  publish(tx, world, { clientId, type: `wallet.${change}`, record: `wallet ${id}`, data, createdAtMs, sourceId })
}
