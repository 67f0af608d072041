import { useState } from 'preact/hooks'
import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { amount } from '../../../requests/amounts.ts'
import { Form, Input } from '../forms.tsx'
import type { Wallet } from '../types.ts'
import { Tag } from '../ui.tsx'
import type { ChangeRecord } from './timeline.tsx'

interface WalletProps {
  wallet: Wallet
  /** The username of its client. */
  owner: string | undefined
  onChange: ChangeRecord
}

/** What a wallet holds, and a way to fund it. */
export const WalletView = ({ wallet, owner, onChange }: WalletProps) => {
  const [value, setValue] = useState('')
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
