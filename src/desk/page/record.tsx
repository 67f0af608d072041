import { visibleLines as visible } from '../../kernel/visible.ts'
import { type Attempt, Attempts } from '../../pages/ui/attempts.tsx'
import { Body } from '../../pages/ui/body.tsx'
import { useLoaded } from '../../pages/ui/hooks.ts'
import { type LedgerEntry, LedgerTable } from '../../pages/ui/ledger.tsx'
import { Card, Code, clockTime, Empty, Failed } from '../../pages/ui/pieces.tsx'
import { type Step, Timeline } from '../../pages/ui/timeline.tsx'
import { Acts } from './acts.tsx'
import { type List, type Row, read } from './data.ts'
import { Listed, nameOf } from './lists.tsx'
import { go, hrefOf, type Place } from './place.ts'
import { Facts, Rows } from './rows.tsx'

interface ToldEvent {
  id: string
  type: string
  created_at: string
  data: object
  request_id: string | null
  attempts: (Attempt & { response_body: string | null })[]
}

interface Story {
  row: Row
  seen: number
  acts: string[]
  steps?: Step[]
  entries: LedgerEntry[]
  events: ToldEvent[]
  eventsMax: number
  audit: List
  lists: Record<string, Record<string, string>>
}

/** `Payout bonus-1`. */
const titleOf = (page: string, id: string, { reference_id, client_reference }: Row): string =>
  `${nameOf(page).slice(0, -1)} ${reference_id ?? client_reference ?? id}`

/** A record with all that happened to it. */
export const RecordPage = ({ place: { page, id = '' } }: { place: Place }) => {
  const { value, error, reload } = useLoaded(() => read<Story>(['record', page, id]), [page, id])
  if (!value) return <Failed error={error} />
  const { row, seen, acts, steps = [], entries, events, eventsMax, audit, lists } = value
  const title = titleOf(page, id, row)
  const subjects = [{ id, label: title }]
  const onDone = () => {
    // A client may have been renamed, or a record removed: the address is then no longer valid.
    void read(['record', page, id]).then(reload, () => go(page))
  }
  return (
    <div class="stack">
      <Card title={title} aside={<a href={hrefOf(page)}>All {page}</a>}>
        <Failed error={error} />
        <Acts acts={acts} subjects={subjects} seen={seen} onDone={onDone} />
        <Facts row={row} page={page} />
        {page === 'clients' && <a href={hrefOf('statement', undefined, { client: id })}>Statement by month</a>}
      </Card>
      {steps.length > 0 && (
        <Card title="History">
          <Timeline steps={steps} />
        </Card>
      )}
      {entries.length > 0 && (
        <Card title="Ledger" aside={<span class="soft">every entry sums to zero in each currency</span>}>
          <LedgerTable entries={entries} />
        </Card>
      )}
      {(events.length > 0 || steps.length > 0) && (
        <Card
          title="Events and deliveries"
          aside={events.length === eventsMax && <span class="soft">the last {eventsMax}</span>}
        >
          {events.length === 0 && <Empty>Events are kept for 30 days.</Empty>}
          <ul class="events">
            {events.map((event) => (
              <ToldEventView key={event.id} event={event} onDone={reload} />
            ))}
          </ul>
        </Card>
      )}
      {audit.rows.length > 0 && (
        <Card title="Audit">
          <Rows list={audit} page="audit" label="Audit" />
        </Card>
      )}
      {Object.entries(lists).map(([name, query]) => (
        <Listed key={name} page={name} query={query} />
      ))}
    </div>
  )
}

const ToldEventView = ({
  event: { id, type, created_at, data, request_id, attempts },
  onDone,
}: {
  event: ToldEvent
  onDone: () => void
}) => (
  <li>
    <p>
      <strong>{type}</strong> <a href={hrefOf('events', id)}>{visible(id)}</a>{' '}
      <span class="soft mono at">
        {clockTime(created_at)} {request_id !== null && `· request ${visible(request_id)}`}
      </span>
    </p>
    {attempts.length === 0 ? <Empty>Delivered to nobody.</Empty> : <Attempts attempts={attempts} />}
    {attempts.map(
      ({ id: attempt, response_body: body }) =>
        body && (
          <Code key={attempt} label={`Response to attempt ${attempt}`}>
            {visible(body)}
          </Code>
        ),
    )}
    <details>
      <summary>Data</summary>
      <Body text={JSON.stringify(data)} label={`Data of ${id}`} />
    </details>
    <Acts acts={['webhooks redeliver']} subjects={[{ id, label: id }]} onDone={onDone} />
  </li>
)
