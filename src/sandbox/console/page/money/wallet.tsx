import { useMemo, useState } from 'preact/hooks'
import { Form, Input } from '../forms.tsx'
import type { LedgerEntry, Wallet } from '../types.ts'
import { amount, Tag, visible } from '../ui.tsx'
import type { ChangeRecord } from './change.ts'

interface WalletProps {
  wallet: Wallet
  /** The username of its client. */
  owner: string | undefined
  entries: readonly LedgerEntry[]
  onChange: ChangeRecord
}

/** What a wallet holds, and how it came to that. */
export const WalletView = ({ wallet, owner, entries, onChange }: WalletProps) => {
  const [value, setValue] = useState('')
  const balances = useMemo(() => balancesOf(wallet, entries), [wallet, entries])
  const { id, currency_code: currency } = wallet
  const fund = () => {
    void onChange(`/wallets/${id}/fund`, { amount: Number(value) }, `Funded wallet ${id}`)
    setValue('')
  }
  return (
    <section class="wallet" id={`wallet-${id}`} tabIndex={-1} aria-label={`Wallet ${id}`}>
      <p class="soft">
        Wallet {id} {wallet.is_default && <Tag>default</Tag>} {!wallet.is_active && <Tag kind="bad">closed</Tag>}
      </p>
      <p class="big">{amount(wallet.amount, currency)}</p>
      <p class="soft owner">
        {visible(owner ?? `client ${wallet.client_id}`)}
        {wallet.reserved_amount > 0 && ` · ${amount(wallet.reserved_amount, currency)} reserved`}
      </p>
      <Chart
        values={balances}
        currency={currency}
        label={`Balance of wallet ${id} over its last ${balances.length === 1 ? 'movement' : `${balances.length} movements`}`}
      />
      <Form class="line" onSubmit={fund}>
        <Input
          inputMode="decimal"
          aria-label={`Amount for wallet ${id}`}
          placeholder="Amount"
          required
          pattern="\d+(\.\d+)?"
          value={value}
          onText={setValue}
        />
        <button type="submit">Fund</button>
      </Form>
    </section>
  )
}

/** Less than the smallest amount of any currency: sums of binary fractions are rarely exactly zero. */
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

interface ChartProps {
  values: readonly number[]
  currency: string
  label: string
}

/** A balance over the last movements, between its lowest and its highest value. */
const Chart = ({ values, currency, label }: ChartProps) => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const step = 200 / Math.max(1, values.length - 1)
  const points = values
    .map((value, at) => `${(at * step).toFixed(1)},${(30 - ((value - low) / (high - low || 1)) * 28).toFixed(1)}`)
    .join(' ')
  const isFlat = low === high
  return (
    <figure class="chart">
      <svg class="spark" viewBox="0 0 200 32" preserveAspectRatio="none" role="img" aria-label={label}>
        <line x1="0" x2="200" y1="2" y2="2" />
        <line x1="0" x2="200" y1="30" y2="30" />
        <polyline points={isFlat ? '0,16 200,16' : points} />
      </svg>
      <figcaption class="soft">
        {isFlat ? (
          <span>unchanged</span>
        ) : (
          <>
            <span>{amount(high, currency)}</span>
            <span>{amount(low, currency)}</span>
          </>
        )}
      </figcaption>
    </figure>
  )
}
