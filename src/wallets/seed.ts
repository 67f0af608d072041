import type { Tx } from '../db/database.ts'
import { toMinor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { fund } from './ledger.ts'
import { openWallet } from './queries.ts'

/** A prepaid wallet of the seed data; the amount is in major units. */
interface WalletSeed {
  clientId: number
  currency: string
  amount: number
}

/** Funds wallets through the ledger, so that balances are sums of its lines from the start. */
export const seedWallets = (tx: Tx, reference: Reference, seeds: readonly WalletSeed[], nowMs: number): void => {
  for (const { clientId, currency: code, amount } of seeds) {
    const currency = reference.findCurrencyByCode(code)
    if (!currency) throw new Error(`the seed has no ${code}`)
    const wallet = openWallet(tx, { clientId, currencyId: currency.id, type: 'PREPAID', creditLimitMinor: 0 }, nowMs)
    fund(tx, undefined, wallet, toMinor(amount, currency.precision) ?? 0, { remarks: 'Opening balance', nowMs })
  }
}
