import type { Static } from '@sinclair/typebox'
import { toTimestamp } from '../kernel/clock.ts'
import { toMajor } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import type { WalletSchema } from './operations.ts'
import type { Wallet } from './queries.ts'

export const walletWire = (wallet: Wallet, reference: Reference): Static<typeof WalletSchema> => {
  const { currency, precision } = reference.getCurrency(wallet.currencyId)
  return {
    id: wallet.id,
    currency_id: wallet.currencyId,
    currency_code: currency,
    amount: toMajor(wallet.amountMinor, precision),
    reserved_amount: toMajor(wallet.reservedMinor, precision),
    type: wallet.type,
    credit_limit: toMajor(wallet.creditLimitMinor, precision),
    is_default: wallet.isDefault,
    is_active: wallet.closedAtMs === null,
    created_at: toTimestamp(wallet.createdAtMs),
    updated_at: toTimestamp(wallet.updatedAtMs),
  }
}
