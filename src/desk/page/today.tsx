import { useContext, useState } from 'preact/hooks'
import { counted } from '../../kernel/counted.ts'
import { visible } from '../../kernel/visible.ts'
import { Fields, type Subject, type Values } from '../../pages/ui/act.tsx'
import { Button, FileField, Form } from '../../pages/ui/forms.tsx'
import { useAttempt, useLoaded } from '../../pages/ui/hooks.ts'
import { Card, Failed, Figures, Tag, time } from '../../pages/ui/pieces.tsx'
import { hrefOf } from '../../pages/ui/place.ts'
import { Acts, Forms } from './acts.tsx'
import { type Today as Data, payoutsNamed, type Row, read, verify } from './data.ts'
import { List, Rows } from './rows.tsx'

type Section = Data['sections'][number]

/** The records that wait for somebody, the oldest first, and the stocks and wallets that run out. */
export const Today = () => {
  const { value: loaded, error, reload } = useLoaded(async () => ({ data: await read<Data>(['today']) }), [])
  if (!loaded) return <Failed error={error} />
  const { data } = loaded
  return (
    <div class="stack today">
      {(!data || data.isEmpty) && <Beginning onDone={reload} />}
      {data && (
        <Card title="Today">
          <Figures figures={[...data.sections.map(figureOf), backupFigure(data)]} />
        </Card>
      )}
      {data?.sections.map((section) => (
        <Waiting key={section.title} {...section} seen={data.seen} onDone={reload} />
      ))}
      {data && (
        <Card title="Backup and books">
          <p>
            {data.backup === null ? (
              <>
                <Tag kind="bad">no backup</Tag> Make one every hour: scrip backup /backup/hourly --keep 48
              </>
            ) : (
              <>
                Last backup: <span class="mono">{time(data.backup).slice(0, 19)}</span> UTC
              </>
            )}
          </p>
          <Verify />
        </Card>
      )}
    </div>
  )
}

/** The number of records, with their sum or with the first of them. */
const figureOf = ({ title, page, part, list, sums = [] }: Section) => {
  const [first] = list.rows
  const oldest = sums.length > 0 && (first?.created_at ?? first?.placed_at)
  const days = Math.min(...list.rows.flatMap((row) => (typeof row.days_left === 'number' ? row.days_left : [])))
  const notes = [
    sums.join(' · '),
    oldest ? `oldest ${time(String(oldest)).slice(0, 16)}` : '',
    Number.isFinite(days) ? `first runs out in ${counted(days, 'day')}` : '',
  ].filter(Boolean)
  return { title, href: hrefOf({ page, status: part }), value: list.total ?? list.rows.length, notes }
}

const backupFigure = ({ backup }: Data) => ({
  title: 'Last backup, in UTC',
  href: hrefOf({ page: 'audit', command: 'backup' }),
  value: backup === null ? 'none' : time(backup).slice(0, 16),
})

/** The rows of a list that are shown before a person asks for more. */
const SHORT = 10

/** The first steps, in the words of the guide to live mode. */
const Beginning = ({ onDone }: { onDone: () => void }) => (
  <Card title="Set up">
    <p>There is no client yet. Add one: this creates the database, and shows the password once.</p>
    <Acts acts={['client add']} onDone={onDone} />
    <p>
      Give it a wallet: its first one is its default wallet. Import the catalog, exchange rates and the codes: until its
      codes are there, an order for a product is refused.
    </p>
    <Acts acts={['wallet add', 'catalog import', 'rates set', 'vouchers import']} onDone={onDone} />
  </Card>
)

/** An event is delivered again; other acts are about their record. */
const subjectOf = (page: string, row: Row): Subject => {
  const { id, event, reference_id, amount, paid, beneficiary, product, client } = row
  const known = [reference_id ?? `${page.slice(0, -1)} ${id}`, product ?? beneficiary ?? client, paid ?? amount]
  return event === undefined ? { id: `${id}`, label: known.join(' · ') } : { id: `${event}`, label: `${event}` }
}

/** A bank's list has many other payments. */
const OTHERS_SHOWN = 20

/** Chooses payouts by a list, such as the bank's. */
const Named = ({ act, onNamed }: { act: string; onNamed: (subjects: readonly Subject[]) => void }) => {
  const form = useContext(Forms).find(({ command }) => command === act)
  const [text, setText] = useState('')
  const [how, setHow] = useState<Values>({})
  const [error, attempt] = useAttempt()
  const [said, setSaid] = useState('')
  const [others, setOthers] = useState<readonly string[]>([])
  const choose = () => {
    setSaid('')
    setOthers([])
    return attempt(async () => {
      const { rows, column, left, unknown } = await payoutsNamed(text, how)
      setSaid(`${counted(rows.length, 'payout')} chosen${column === undefined ? '' : ` by ${column}`}.`)
      setOthers([...left, ...unknown.map((line) => `${line}: no payout`)])
      onNamed(rows.map((row) => subjectOf('payouts', row)))
    })
  }
  if (!form?.among) return null
  return (
    <details>
      <summary>Choose from a list</summary>
      <Form class="form" onSubmit={choose}>
        <label>
          Ids or references, one on each line, or a bank's CSV
          <textarea required value={text} onInput={({ currentTarget: { value } }) => setText(value)} />
        </label>
        <FileField label="Or a file of them" onFile={setText} />
        <Fields fields={form.among} values={how} onValues={setHow} />
        <button type="submit">Choose them</button>
      </Form>
      <Failed error={error} />
      <div role="status">
        {said !== '' && <p>{visible(said)}</p>}
        {others.length > 0 && (
          <ul class="items">
            {others.slice(0, OTHERS_SHOWN).map((line) => (
              <li key={line}>{visible(line)}</li>
            ))}
            {others.length > OTHERS_SHOWN && <li>and {counted(others.length - OTHERS_SHOWN, 'more line')}</li>}
          </ul>
        )}
      </div>
    </details>
  )
}

/** Records that wait, with their acts in the row, and one for several at once. */
const Waiting = ({
  title,
  page,
  part,
  empty,
  many,
  list,
  sums = [],
  seen,
  onDone,
}: Section & { seen: number; onDone: () => void }) => {
  const [chosen, setChosen] = useState<readonly Subject[]>([])
  const subjects = list.rows.map((row) => subjectOf(page, row))
  const isAll = chosen.length === subjects.length
  const acts = (row: Row) => (
    <Acts acts={row.acts as string[]} subjects={[subjectOf(page, row)]} seen={seen} onDone={onDone} />
  )
  const choice = (row: Row) => {
    const subject = subjectOf(page, row)
    const others = chosen.filter(({ id }) => id !== subject.id)
    return (
      <input
        type="checkbox"
        aria-label={`Choose ${subject.label}`}
        checked={others.length < chosen.length}
        onChange={({ currentTarget }) => setChosen(currentTarget.checked ? [...others, subject] : others)}
      />
    )
  }
  const done = () => {
    setChosen([])
    onDone()
  }
  return (
    <List
      title={title}
      page={page}
      list={list}
      empty={empty}
      short={SHORT}
      all={hrefOf({ page, status: part })}
      aside={
        <span>
          {sums.map((sum) => `${sum} · `)}
          <a href={hrefOf({ page })}>All {page}</a>
        </span>
      }
      before={many === undefined ? undefined : choice}
      after={list.rows[0]?.acts === undefined ? undefined : acts}
    >
      {many && subjects.length > 0 && (
        <div class="line">
          <Button
            text={isAll ? 'Choose none' : `Choose all ${subjects.length}`}
            onClick={() => setChosen(isAll ? [] : subjects)}
          />
          {chosen.length > 0 && <Acts acts={[many]} subjects={chosen} seen={seen} onDone={done} />}
        </div>
      )}
      {page === 'payouts' && many && subjects.length > 0 && <Named act={many} onNamed={setChosen} />}
    </List>
  )
}

/** Checks schema and books, as `scrip verify` does. */
const Verify = () => {
  const [results, setResults] = useState<Row[]>()
  const [error, attempt] = useAttempt()
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    await attempt(async () => setResults(await verify()))
    setBusy(false)
  }
  const broken = results?.filter(({ faults }) => Number(faults) > 0) ?? []
  return (
    <div role="status">
      <Button text={isBusy ? 'Verifying…' : 'Verify'} disabled={isBusy} onClick={run} />
      <Failed error={error} />
      {results && broken.length === 0 && <p>{results.length} checks found nothing wrong.</p>}
      {broken.length > 0 && (
        <>
          <p class="failed">Keep the folder, and restore the last backup that scrip verify finds sound.</p>
          <Rows list={{ columns: ['check', 'faults', 'first'], rows: broken }} page="" label="Faults" />
        </>
      )}
    </div>
  )
}
