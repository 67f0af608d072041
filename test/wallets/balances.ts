import { expect } from 'bun:test'
import type { TestWorld } from '../harness.ts'
import type { Transaction, Wallet } from '../records.ts'

const OLDEST_FIRST = `limit=10000&sort=${encodeURIComponent('{"field":"id","direction":"ASC"}')}`

/** All wallets of a client, the oldest first. */
export const walletsOf = (world: TestWorld) => world.read<Wallet[]>(`/api/v1/wallets?${OLDEST_FIRST}`)

/** All movements of a client's wallets, the oldest first. */
export const transactionsOf = (world: TestWorld) => world.read<Transaction[]>(`/api/v1/transactions?${OLDEST_FIRST}`)

/** All movements but the opening ones. */
export const movementsOf = async (world: TestWorld) =>
  (await transactionsOf(world)).filter(({ source_type }) => source_type !== 'funding')

/** The balance of a wallet, and the amount that is reserved. */
export const balanceOf = async (world: TestWorld, walletId: number) => {
  const wallet = (await walletsOf(world)).find(({ id }) => id === walletId)
  if (!wallet) throw new Error(`no wallet ${walletId}`)
  return { amount: wallet.amount, reserved: wallet.reserved_amount }
}

/** The amount that a wallet can spend. */
export const amountIn = async (world: TestWorld, walletId: number) => (await balanceOf(world, walletId)).amount

/** An amount of the wire in ten-thousandths, in which sums of any currency are exact. */
const fine = (amount: number): bigint => BigInt(Math.round(amount * 10_000))

/** Each movement continues at the balance of the one before, and the last one ends at the balance of the wallet. */
export const expectUnbrokenChain = async (world: TestWorld): Promise<void> => {
  const transactions = await transactionsOf(world)
  for (const wallet of await walletsOf(world)) {
    let balance = 0n
    for (const movement of transactions.filter(({ wallet_id }) => wallet_id === wallet.id)) {
      expect(movement.amount).toBeGreaterThan(0)
      balance += movement.transaction_type === 'CREDIT' ? fine(movement.amount) : -fine(movement.amount)
      expect([movement.id, fine(movement.balance_after)]).toEqual([movement.id, balance])
    }
    expect([wallet.id, fine(wallet.amount)]).toEqual([wallet.id, balance])
  }
}
