import { visibleLines as visible } from '../../kernel/visible.ts'
import { EventView } from '../../pages/ui/event.tsx'
import { useLoaded } from '../../pages/ui/hooks.ts'
import { LedgerTable } from '../../pages/ui/ledger.tsx'
import { Card, Empty, Failed } from '../../pages/ui/pieces.tsx'
import { go, hrefOf, type Place } from '../../pages/ui/place.ts'
import { Timeline } from '../../pages/ui/timeline.tsx'
import { Acts } from './acts.tsx'
import { Balance } from './balance.tsx'
import { type Row, read, type Story } from './data.ts'
import { Listed, nameOf } from './lists.tsx'
import { Facts, List } from './rows.tsx'

/** `Payout bonus-1`. */
const titleOf = (page: string, id: string, { reference_id, client_reference }: Row): string =>
  `${nameOf(page).slice(0, -1)} ${reference_id ?? client_reference ?? id}`

/** A record with all that happened to it. */
export const RecordPage = ({ place: { page, id = '' } }: { place: Place }) => {
  const { value, error, reload } = useLoaded(() => read<Story>(['record', page, id]), [page, id])
  if (!value) return <Failed error={error} />
  const { row, seen, acts, filled, steps = [], balance, entries, events, eventsMax, audit, lists } = value
  const title = titleOf(page, id, row)
  const subjects = [{ id, label: title }]
  const onDone = () => {
    // A client may have been renamed, or a record removed: the address is then no longer valid.
    void read(['record', page, id]).then(reload, () => go({ page }))
  }
  return (
    <div class="stack">
      <Card title={title} aside={<a href={hrefOf({ page })}>All {page}</a>}>
        <Failed error={error} />
        <Acts acts={acts} subjects={subjects} filled={filled} seen={seen} onDone={onDone} />
        <Facts row={row} page={page} />
        {page === 'clients' && (
          <p class="line">
            <a href={hrefOf({ page: 'statement', client: id })}>Statement by month</a>
            <a href={hrefOf({ page: 'reconcile', id })}>Reconcile with its own list</a>
          </p>
        )}
      </Card>
      {balance && <Balance days={balance} />}
      {steps.length > 0 && (
        <Card title="History">
          <Timeline steps={steps} kind="steps" />
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
          <ul class="items">
            {events.map((event) => (
              <EventView
                key={event.id}
                event={event}
                attempts={event.attempts}
                href={hrefOf({ page: 'events', id: event.id })}
              >
                {event.request_id !== null && <span class="soft">request {visible(event.request_id)}</span>}
                <Acts acts={['webhooks redeliver']} subjects={[{ id: event.id, label: event.id }]} onDone={reload} />
              </EventView>
            ))}
          </ul>
        </Card>
      )}
      {audit.rows.length > 0 && <List title="Audit" page="audit" list={audit} />}
      {Object.entries(lists).map(([name, query]) => (
        <Listed key={name} page={name} query={query} />
      ))}
    </div>
  )
}
