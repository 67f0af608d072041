import { useState } from 'preact/hooks'
import { Button } from '../../pages/ui/forms.tsx'
import { useLoaded } from '../../pages/ui/hooks.ts'
import { Card, Empty, Failed, Tag, time } from '../../pages/ui/pieces.tsx'
import { Acts, type Subject } from './acts.tsx'
import { Beginning } from './beginning.tsx'
import { type Cell, type List, type Row, read, verify } from './data.ts'
import { hrefOf } from './place.ts'
import { Rows } from './rows.tsx'

interface Data {
  seen: number
  isEmpty: boolean
  payouts: List
  orders: List
  stock: List
  wallets: List
  failing: { id: string; name: string; client: string; attempts: List }[]
  backup: string | null
}

/** The columns that say what a row is about; its page has the others. */
const only = ({ rows, ...rest }: List, ...columns: string[]): List => ({ ...rest, rows, columns })

/** What waits for somebody, the oldest first, and what runs out. */
export const Today = () => {
  const { value: loaded, error, reload } = useLoaded(async () => ({ data: await read<Data>(['today']) }), [])
  if (!loaded) return <Failed error={error} />
  const { data: value } = loaded
  if (!value) return <Beginning onDone={reload} />
  const { seen, payouts, orders, stock, wallets, failing, backup } = value
  return (
    <div class="stack">
      {value.isEmpty && <Beginning onDone={reload} />}
      <Waiting
        title="Payouts that wait"
        page="payouts"
        list={only(
          payouts,
          'id',
          'client',
          'status',
          'amount',
          'currency',
          'beneficiary',
          'reference_id',
          'created_at',
        )}
        many="payouts advance"
        filled={{ '--to': 'completed' }}
        labelOf={(row) =>
          `${row.reference_id} · ${row.amount} ${row.currency} to ${row.beneficiary ?? 'an erased person'}`
        }
        empty="No payout waits. A client makes one with POST /api/v1/payouts; it waits here until you advance it."
        seen={seen}
        onDone={reload}
      />
      <Waiting
        title="Orders that wait"
        page="orders"
        list={only(
          orders,
          'id',
          'client',
          'status',
          'product',
          'quantity',
          'delivered',
          'paid',
          'paid_currency',
          'placed_at',
        )}
        many="orders deliver"
        labelOf={(row) => `order ${row.id} · ${row.quantity} × ${row.product}`}
        empty="No order waits. Those that are not delivered at once wait here until you deliver them."
        seen={seen}
        onDone={reload}
      />
      <Card title="Stock that runs low" aside={<a href={hrefOf('stock')}>All stock</a>}>
        {stock.rows.length === 0 ? (
          <Empty>Nothing sells out in the next two weeks. scrip vouchers import adds codes.</Empty>
        ) : (
          <Rows
            list={only(stock, 'product_id', 'product', 'denomination', 'currency', 'available', 'days_left')}
            page="stock"
            label="Stock that runs low"
          />
        )}
        <Acts acts={['vouchers import']} onDone={reload} />
      </Card>
      <Card title="Wallets below their threshold" aside={<a href={hrefOf('wallets')}>All wallets</a>}>
        {wallets.rows.length === 0 ? (
          <Empty>No wallet is below its threshold. Set one on the page of a wallet.</Empty>
        ) : (
          <Rows
            list={only(wallets, 'id', 'client', 'amount', 'currency', 'threshold')}
            page="wallets"
            label="Wallets below their threshold"
            after={(row) => (
              <Acts
                acts={['wallet fund']}
                subjects={[{ id: String(row.id), label: `wallet ${row.id} of ${row.client}` }]}
                seen={seen}
                onDone={reload}
              />
            )}
          />
        )}
      </Card>
      <Card title="Deliveries that fail" aside={<a href={hrefOf('webhooks')}>All webhooks</a>}>
        {failing.length === 0 && <Empty>Every webhook takes its events.</Empty>}
        {failing.map(({ id, name, client, attempts }) => (
          <section key={id} class="webhook" aria-label={`Webhook ${name}`}>
            <p>
              <a href={hrefOf('webhooks', id)}>{name}</a> of {client}
            </p>
            <Rows
              list={only(attempts, 'event', 'type', 'attempt', 'status', 'response_status', 'error', 'next_attempt_at')}
              page="deliveries"
              label={`Attempts to ${name}`}
              after={(row) => <Redeliver event={row.event ?? ''} onDone={reload} />}
            />
          </section>
        ))}
      </Card>
      <Card title="Backup and books">
        <p>
          {backup === null ? (
            <>
              <Tag kind="bad">no backup</Tag> Make one every hour: scrip backup /backup/hourly --every 1h --keep 48
            </>
          ) : (
            <>
              Last backup: <span class="mono">{time(backup).slice(0, 19)}</span> UTC
            </>
          )}
        </p>
        <Verify />
      </Card>
    </div>
  )
}

export const Redeliver = ({ event, onDone }: { event: Cell; onDone: () => void }) => (
  <Acts acts={['webhooks redeliver']} subjects={[{ id: String(event), label: String(event) }]} onDone={onDone} />
)

interface WaitingProps {
  title: string
  page: string
  list: List
  /** What can be done to several at once. */
  many: string
  filled?: Readonly<Record<string, string>>
  labelOf: (row: Row) => string
  empty: string
  seen: number
  onDone: () => void
}

/** Records that wait, with their acts in the row, and one for several at once. */
const Waiting = ({ title, page, list, many, filled = {}, labelOf, empty, seen, onDone }: WaitingProps) => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const subjectOf = (row: Row): Subject => ({ id: String(row.id), label: labelOf(row) })
  const subjects = list.rows.map(subjectOf)
  const picked = subjects.filter(({ id }) => chosen.has(id))
  const choose = (ids: readonly string[], isOn: boolean) =>
    setChosen(new Set([...chosen, ...ids].filter((id) => isOn || !ids.includes(id))))
  return (
    <Card title={title} aside={<span class="soft">{(list.total ?? 0).toLocaleString('en')}</span>}>
      {list.rows.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <>
          <div class="line">
            <Button
              text={picked.length === subjects.length ? 'Choose none' : `Choose all ${subjects.length}`}
              onClick={() =>
                choose(
                  subjects.map(({ id }) => id),
                  picked.length < subjects.length,
                )
              }
            />
            {picked.length > 0 && (
              <>
                <span>{picked.length} chosen</span>
                <Acts acts={[many]} subjects={picked} filled={filled} seen={seen} onDone={onDone} />
              </>
            )}
          </div>
          <Rows
            list={list}
            page={page}
            label={title}
            before={(row) => (
              <input
                type="checkbox"
                aria-label={`Choose ${labelOf(row)}`}
                checked={chosen.has(String(row.id))}
                onChange={({ currentTarget }) => choose([String(row.id)], currentTarget.checked)}
              />
            )}
            after={(row) => (
              <Acts acts={row.acts as string[]} subjects={[subjectOf(row)]} seen={seen} onDone={onDone} />
            )}
          />
        </>
      )}
    </Card>
  )
}

/** Checks schema and books, as `scrip verify` does. */
const Verify = () => {
  const [results, setResults] = useState<Row[]>()
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    await verify().then(setResults, (reason: Error) => setError(reason.message))
    setBusy(false)
  }
  const broken = results?.filter(({ faults }) => Number(faults) > 0)
  return (
    <>
      <Button text={isBusy ? 'Verifying…' : 'Verify'} disabled={isBusy} onClick={run} />
      <div role="status">
        <Failed error={error} />
        {broken?.length === 0 && (
          <p>
            <Tag kind="good">sound</Tag> {results?.length} checks found nothing wrong.
          </p>
        )}
        {broken && broken.length > 0 && (
          <>
            <p class="failed">
              {broken.length} of {results?.length} checks found something wrong. Keep the folder, and restore the last
              backup that scrip verify finds sound.
            </p>
            <Rows list={{ columns: ['check', 'faults', 'first'], rows: broken }} page="" label="What was found" />
          </>
        )}
      </div>
    </>
  )
}
