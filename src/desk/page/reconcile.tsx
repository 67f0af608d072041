import { useState } from 'preact/hooks'
import { visibleLines as visible } from '../../kernel/visible.ts'
import { Field, Form } from '../../pages/ui/forms.tsx'
import { Card, Failed } from '../../pages/ui/pieces.tsx'
import { FileField } from './acts.tsx'
import { reconcile, useAttempt } from './data.ts'
import { Tabs } from './lists.tsx'
import type { Place } from './place.ts'
import { Rows } from './rows.tsx'

/** Compares a client's own list of orders and payouts with the ledger. */
export const Reconcile = ({ place: { query } }: { place: Place }) => {
  const [client, setClient] = useState(query.client ?? '')
  const [month, setMonth] = useState('')
  const [list, setList] = useState({ file: '', text: '' })
  const [found, setFound] = useState<Awaited<ReturnType<typeof reconcile>>>()
  const [error, attempt] = useAttempt()
  const compare = () => {
    setFound(undefined)
    return attempt(async () => setFound(await reconcile({ client, month, file: list.file }, list.text)))
  }
  return (
    <div class="stack">
      <Tabs page="reconcile" />
      <Card title="Reconcile">
        <Form class="form" onSubmit={compare}>
          <Field label="Client" required value={client} onText={setClient} />
          <Field label="Month, in UTC; all if empty" placeholder="2026-11" value={month} onText={setMonth} />
          <FileField label="Its list, as CSV or JSON lines" required onFile={(text, file) => setList({ text, file })} />
          <button type="submit" class="primary">
            Compare
          </button>
        </Form>
        <Failed error={error} />
        <div role="status">
          {found?.said.map((line) => (
            <p key={line}>{visible(line)}</p>
          ))}
        </div>
        {found && found.rows.length > 0 && <Rows list={found} page="" label="Findings" />}
      </Card>
    </div>
  )
}
