import { useMemo, useState } from 'preact/hooks'
import type { LedgerEntry } from '../types.ts'
import { amount, Tag } from '../ui.tsx'

export interface Wallet {
  id: number
  client_id: number
  currency_code: string
  amount: number
  reserved_amount: number
  type: string
  is_default: boolean
  is_active: boolean
}

interface WalletProps {
  wallet: Wallet
  entries: readonly LedgerEntry[]
  onFund: (amount: number) => void
}

/** What a wallet holds, and how it came to that. */
export const WalletView = ({ wallet, entries, onFund }: WalletProps) => {
  const [value, setValue] = useState('')
  const balances = useMemo(() => balancesOf(wallet, entries), [wallet, entries])
  return (
    <section class="wallet" aria-label={`Wallet ${wallet.id}`}>
      <p class="soft">
        Wallet {wallet.id} · client {wallet.client_id} {wallet.is_default && <Tag>default</Tag>}{' '}
        {!wallet.is_active && <Tag kind="bad">closed</Tag>}
      </p>
      <p class="big">{amount(wallet.amount, wallet.currency_code)}</p>
      <p class="soft reserved">
        {wallet.reserved_amount > 0 && `${amount(wallet.reserved_amount, wallet.currency_code)} reserved`}
      </p>
      <Sparkline
        values={balances}
        label={`Balance of wallet ${wallet.id} over its last ${balances.length} movements`}
      />
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          onFund(Number(value))
          setValue('')
        }}
      >
        <input
          inputMode="decimal"
          aria-label={`Amount for wallet ${wallet.id}`}
          placeholder="Amount"
          required
          pattern="\d+(\.\d+)?"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
        <button type="submit">Fund</button>
      </form>
    </section>
  )
}

/** Less than the smallest amount of any currency: sums of binary fractions are seldom exactly zero. */
const SMALLEST = 1e-6

/**
 * The balances of a wallet before and after each of its movements, back from what it holds now. Most begin empty and are
 * funded at once, beside which nothing else would be seen.
 */
const balancesOf = (wallet: Wallet, entries: readonly LedgerEntry[]): number[] => {
  const balances = [wallet.amount]
  for (const { lines } of entries) {
    const moved = lines
      .filter(({ account, wallet_id }) => account === 'wallet' && wallet_id === wallet.id)
      .reduce((sum, line) => sum + line.amount, 0)
    if (moved !== 0) balances.unshift((balances[0] ?? 0) - moved)
  }
  return Math.abs(balances[0] ?? 0) < SMALLEST ? balances.slice(1) : balances
}

const Sparkline = ({ values, label }: { values: readonly number[]; label: string }) => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const step = 200 / Math.max(1, values.length - 1)
  const points = values
    .map((value, at) => `${(at * step).toFixed(1)},${(30 - ((value - low) / (high - low || 1)) * 26).toFixed(1)}`)
    .join(' ')
  return (
    <svg class="spark" viewBox="0 0 200 32" preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={values.length > 1 ? points : `0,16 200,16`} />
    </svg>
  )
}
