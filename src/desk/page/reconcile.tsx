import { useState } from 'preact/hooks'
import { visibleLines as visible } from '../../kernel/visible.ts'
import { Button, Field, FileField, Form } from '../../pages/ui/forms.tsx'
import { useAttempt } from '../../pages/ui/hooks.ts'
import { act } from '../../pages/ui/notices.tsx'
import { Card, Failed, Figures } from '../../pages/ui/pieces.tsx'
import { hrefOf, type Place } from '../../pages/ui/place.ts'
import { compare, downloadFindings, type Findings } from './data.ts'
import { Paged } from './rows.tsx'

const NAMES: Readonly<Record<string, string>> = {
  differs: 'Differs',
  counted_twice: 'Counted twice',
  only_theirs: 'Only the client has',
  only_ours: 'Only Scrip has',
}

/** A client's own list beside the ledger: the number of each kind first, then what was found. */
export const Reconcile = ({ place: { id: client = '', month: named = '' } }: { place: Place }) => {
  const [month, setMonth] = useState(named)
  const [list, setList] = useState({ file: '', text: '' })
  const [found, setFound] = useState<Findings>()
  const [isBusy, setBusy] = useState(false)
  const [error, attempt] = useAttempt()
  const comparison = { client, month, file: list.file }
  const run = async () => {
    setBusy(true)
    setFound(undefined)
    await attempt(async () => setFound(await compare(comparison, list.text)))
    setBusy(false)
  }
  const kinds = found?.kinds.filter(({ rows }) => rows.length > 0) ?? []
  return (
    <div class="stack">
      <Card
        title={`Reconcile ${client}`}
        aside={<a href={hrefOf({ page: 'clients', id: client })}>Client {visible(client)}</a>}
      >
        <p>Compares the client's own list of orders and payouts, as CSV or JSON lines, with the ledger.</p>
        <Form class="form" onSubmit={run}>
          <Field label="Month, in UTC; every month without it" placeholder="2026-11" value={month} onText={setMonth} />
          <FileField label="The client's list" required onFile={(text, file) => setList({ text, file })} />
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Comparing…' : 'Compare'}
          </button>
        </Form>
        <Failed error={error} />
        {found && (
          <div role="status">
            {found.sentences.map((sentence) => (
              <p key={sentence}>{visible(sentence)}</p>
            ))}
            <Figures
              figures={found.kinds.map(({ kind, rows }) => ({ title: NAMES[kind] ?? kind, value: rows.length }))}
            />
            {kinds.length > 0 && (
              <Button
                text="CSV of all findings"
                onClick={() => act(() => downloadFindings(comparison, list.text), 'Saved as CSV')}
              />
            )}
          </div>
        )}
      </Card>
      {kinds.map((one) => (
        <Paged key={one.kind} title={NAMES[one.kind] ?? one.kind} page="reconcile" list={one} />
      ))}
    </div>
  )
}
