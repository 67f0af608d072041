import { clientDiscounts } from '../catalog/tables.ts'
import type { Transaction } from '../db/database.ts'
import { toMinor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { LIMITED_USERNAME, passwordDigest, SANDBOX_USERNAME } from '../sessions/credentials.ts'
import { clients } from '../sessions/tables.ts'
import { wallets } from '../wallets/tables.ts'

/** The clients of every sandbox world and their prepaid wallets (contract C2). */
const ACCOUNTS = [
  { id: 1, username: SANDBOX_USERNAME, vouchers: true, quantityMax: null },
  { id: 2, username: LIMITED_USERNAME, vouchers: false, quantityMax: 10 },
] as const

/** Amounts in major units. */
const WALLETS = [
  { id: 1, clientId: 1, currency: 'USD', amount: 100_000, isDefault: true },
  { id: 2, clientId: 1, currency: 'EUR', amount: 100_000, isDefault: false },
  { id: 3, clientId: 1, currency: 'INR', amount: 5_000_000, isDefault: false },
  { id: 4, clientId: 1, currency: 'JPY', amount: 10_000_000, isDefault: false },
  { id: 5, clientId: 2, currency: 'USD', amount: 5, isDefault: true },
] as const

/** One discount that was agreed, so that the difference can be seen: product 2 at 6 % for `limited` instead of 4 %. */
const AGREED_DISCOUNTS = [{ clientId: 2, productId: 2, discountBasisPoints: 600 }] as const

export const seedSandboxAccounts = (tx: Transaction, reference: Reference, nowMs: number): void => {
  tx.insert(clients)
    .values(
      ACCOUNTS.map((account) => ({
        ...account,
        passwordSha256: passwordDigest(account.username),
        disabled: false,
        createdAtMs: nowMs,
      })),
    )
    .run()
  tx.insert(wallets)
    .values(
      WALLETS.map(({ currency: code, amount, ...wallet }) => {
        const currency = reference.findCurrencyByCode(code)
        if (!currency) throw new Error(`the seed has no ${code}`)
        return {
          ...wallet,
          currencyId: currency.id,
          type: 'PREPAID' as const,
          amountMinor: toMinor(amount, currency.precision) ?? 0,
          creditLimitMinor: 0,
          createdAtMs: nowMs,
          updatedAtMs: nowMs,
        }
      }),
    )
    .run()
  tx.insert(clientDiscounts)
    .values([...AGREED_DISCOUNTS])
    .run()
}
