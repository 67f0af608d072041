import { useState } from 'preact/hooks'
import { amount } from '../../pages/amounts.ts'
import { Button, Field, Form } from '../../pages/ui/forms.tsx'
import { useLoaded } from '../../pages/ui/hooks.ts'
import { act } from '../../pages/ui/notices.tsx'
import { Card, Empty, Failed } from '../../pages/ui/pieces.tsx'
import { download, type List, type Row, read } from './data.ts'
import { Tabs } from './lists.tsx'
import { go, type Place } from './place.ts'
import { Value } from './rows.tsx'

interface WalletStatement {
  wallet_id: number
  currency: string
  opening_balance: number
  lines: Row[]
  closing_balance: number
}

const lastMonth = (): string => {
  const now = new Date(performance.timeOrigin + performance.now())
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString().slice(0, 7)
}

/** The wallets of a client in one month, made to be printed. */
export const StatementPage = ({ place: { id, query } }: { place: Place }) => {
  const { month = '' } = query
  const clients = useLoaded(async () => (await read<List>(['list', 'clients']))?.rows ?? [], []).value ?? []
  const { value = [], error } = useLoaded(
    async () =>
      id === undefined || month === '' ? [] : ((await read<WalletStatement[]>(['statement', id], { month })) ?? []),
    [id, month],
  )
  const [client, setClient] = useState(id ?? '')
  const [typed, setTyped] = useState(month || lastMonth())
  const name = `statement-${id}-${month}`
  return (
    <div class="stack statement">
      <Tabs page="statement" />
      <Card title={id === undefined || month === '' ? 'Statement' : `Statement of ${id}, ${month}`}>
        <Form class="form filters" onSubmit={() => go('statement', client, { month: typed })}>
          <Field label="Client" required list="clients" value={client} onText={setClient} />
          <datalist id="clients">
            {clients.map(({ username }) => (
              <option key={String(username)} value={String(username)} />
            ))}
          </datalist>
          <Field
            label="Month, in UTC"
            required
            pattern="\d{4}-\d\d"
            placeholder="2026-11"
            value={typed}
            onText={setTyped}
          />
          <button type="submit" class="primary">
            Show
          </button>
          {value.length > 0 && <Button text="Print" onClick={() => print()} />}
          {value.length > 0 && id !== undefined && (
            <Button
              text="CSV"
              onClick={() => act(() => download(name, ['statement', id], { month }), 'Saved as CSV')}
            />
          )}
        </Form>
        <Failed error={error} />
        {id !== undefined && month !== '' && value.length === 0 && !error && <Empty>This client has no wallet.</Empty>}
        {value.map((wallet) => (
          <Wallet key={wallet.wallet_id} {...wallet} />
        ))}
      </Card>
    </div>
  )
}

const Wallet = ({ wallet_id, currency, opening_balance, lines, closing_balance }: WalletStatement) => (
  <section class="part" aria-label={`Wallet ${wallet_id}`}>
    <h3>
      Wallet {wallet_id}, {currency}
    </h3>
    <table class="rows">
      <thead>
        <tr>
          <th>Time, UTC</th>
          <th>Transaction</th>
          <th>For</th>
          <th class="right">Amount</th>
          <th class="right">Balance</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <td colSpan={4}>Opening balance</td>
          <td class="right mono" data-name="balance">
            {amount(opening_balance, currency)}
          </td>
        </tr>
        {lines.map((line) => (
          <tr key={String(line.id)}>
            <td data-name="time">
              <Value name="created_at" row={line} page="" />
            </td>
            <td data-name="transaction">
              {String(line.id)} {String(line.source_type)}
            </td>
            <td data-name="for">{[line.source_id, line.remarks].filter(Boolean).join(' · ')}</td>
            <td class="right mono" data-name="amount">
              {line.transaction_type === 'DEBIT' && '-'}
              {amount(Number(line.amount), currency)}
            </td>
            <td class="right mono" data-name="balance">
              {amount(Number(line.balance_after), currency)}
            </td>
          </tr>
        ))}
        <tr>
          <td colSpan={4}>Closing balance</td>
          <td class="right mono" data-name="balance">
            {amount(closing_balance, currency)}
          </td>
        </tr>
      </tbody>
    </table>
  </section>
)
