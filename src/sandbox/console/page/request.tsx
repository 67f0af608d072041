import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ask, askText, get } from './api.ts'
import { Body, HeaderList } from './body.tsx'
import { go, hrefOf, type Place } from './place.ts'
import type { DocumentedError, LedgerEntry, RecordedRequest, ScripEvent } from './types.ts'
import { act, amount, copy, Empty, Failed, ms, Status, say, Tag, time, useLoaded, visible } from './ui.tsx'

/** The ledger entries that are looked through for those of a request. */
const ENTRIES_READ = '1000'

/** One request: what came and went, what it changed, and what can be done with it. */
export const RequestView = ({ id, world, place }: { id: number; world: string; place: Place }) => {
  const { value: recorded, error } = useLoaded(() => get<RecordedRequest>(`/requests/${id}`, { world }), [id, world])
  const closed = { page: 'requests', world: place.world }
  return (
    <section class="request" aria-label={`Request ${id} of ${world}`}>
      <a class="back" href={hrefOf(closed)} aria-label="Close the request">
        ✕
      </a>
      <Failed error={error && `${error}: the log of ${world} holds its last 1,000 requests.`} />
      {recorded && <Opened recorded={recorded} world={world} place={place} />}
    </section>
  )
}

const Opened = ({ recorded, world, place }: { recorded: RecordedRequest; world: string; place: Place }) => {
  const { request, response } = recorded
  return (
    <>
      <h2 class="title">
        <span class={`method m-${recorded.method.toLowerCase()}`}>{recorded.method}</span>{' '}
        <span class="path">{visible(recorded.path)}</span>
      </h2>
      <p class="facts">
        <Status status={response.status} />
        {recorded.outcome && <Tag kind={recorded.outcome === 'success' ? 'good' : 'bad'}>{recorded.outcome}</Tag>}
        {recorded.fault && <Tag kind="warn">fault: {recorded.fault}</Tag>}
        <span>{ms(recorded.duration_ms)}</span>
        <span>{time(recorded.at)}</span>
        <span>world {recorded.world}</span>
        {recorded.client && <span>client {visible(recorded.client)}</span>}
        <span class="mono">{visible(recorded.request_id)}</span>
      </p>
      <Actions recorded={recorded} world={world} place={place} />
      <Part title="Response">
        <Body text={response.body} label="Body of the response" />
        <HeaderList headers={response.headers} />
      </Part>
      <Part title="Request">
        <Body text={request.body} label="Body of the request" />
        <HeaderList headers={request.headers} />
      </Part>
      <Part title="Rows changed" count={recorded.changes.length}>
        <Changes changes={recorded.changes} />
      </Part>
      <Posted recorded={recorded} world={world} />
      <Caused recorded={recorded} world={world} />
    </>
  )
}

const Part = ({ title, count, children }: { title: string; count?: number; children: ComponentChildren }) => (
  <section class="part" aria-label={title}>
    <h3>
      {title} {count !== undefined && <span class="number">{count}</span>}
    </h3>
    {children}
  </section>
)

const Changes = ({ changes }: Pick<RecordedRequest, 'changes'>) =>
  changes.length === 0 ? (
    <Empty>It wrote nothing.</Empty>
  ) : (
    <table>
      <thead>
        <tr>
          <th>Table</th>
          <th>Change</th>
          <th>Key</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ table, operation, key }) => (
          <tr key={`${table} ${operation} ${key}`}>
            <td>{table}</td>
            <td>
              <Tag kind={operation}>{operation}</Tag>
            </td>
            <td class="mono">{visible(key)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )

/** The lines of the ledger entries that it posted. */
const Posted = ({ recorded, world }: { recorded: RecordedRequest; world: string }) => {
  const ids = recorded.changes.filter(({ table }) => table === 'journal_entries').map(({ key }) => Number(key))
  const { value: entries = [], error } = useLoaded(
    async () =>
      ids.length === 0
        ? []
        : (await get<LedgerEntry[]>('/ledger', { world, query: { limit: ENTRIES_READ } })).filter((entry) =>
            ids.includes(entry.id),
          ),
    [recorded.id, world],
  )
  return (
    <Part title="Ledger" count={ids.length}>
      <Failed error={error} />
      {ids.length === 0 && <Empty>It moved no money.</Empty>}
      {entries.length > 0 && <LedgerTable entries={entries} />}
    </Part>
  )
}

export const LedgerTable = ({ entries }: { entries: readonly LedgerEntry[] }) => (
  <table class="ledger">
    <thead>
      <tr>
        <th>Entry</th>
        <th>Account</th>
        <th class="right">Amount</th>
      </tr>
    </thead>
    <tbody>
      {entries.flatMap((entry) =>
        entry.lines.map((line, at) => (
          <tr
            key={`${entry.id} ${line.account} ${line.wallet_id} ${line.currency} ${line.amount}`}
            class={at === 0 ? 'first' : ''}
          >
            <td>
              {at === 0 && (
                <>
                  <span class="mono">{entry.id}</span> {entry.source_type} {entry.source_id ?? ''}
                </>
              )}
            </td>
            <td>
              {line.account}
              {line.wallet_id !== null && ` ${line.wallet_id}`}
            </td>
            <td class={`right mono ${line.amount < 0 ? 'minus' : 'plus'}`}>{amount(line.amount, line.currency)}</td>
          </tr>
        )),
      )}
    </tbody>
    <tfoot>
      {[...sumsOf(entries)].map(([currency, sum]) => (
        <tr key={currency}>
          <td>Sum</td>
          <td />
          <td class="right mono">
            {amount(sum, currency)} {sum === 0 && '✓'}
          </td>
        </tr>
      ))}
    </tfoot>
  </table>
)

/** In whole units of the smallest precision, so that nothing is lost to binary fractions. */
const UNITS = 10_000

export const sumsOf = (entries: readonly LedgerEntry[]): Map<string, number> => {
  const sums = new Map<string, number>()
  for (const { lines } of entries) {
    for (const { currency, amount: value } of lines)
      sums.set(currency, (sums.get(currency) ?? 0) + Math.round(value * UNITS))
  }
  for (const [currency, sum] of sums) sums.set(currency, sum / UNITS)
  return sums
}

const Caused = ({ recorded, world }: { recorded: RecordedRequest; world: string }) => {
  const { value: events = [] } = useLoaded(
    async () =>
      recorded.events.length === 0
        ? []
        : (await get<ScripEvent[]>('/events', { world })).filter(({ id }) => recorded.events.includes(id)),
    [recorded.id, world],
  )
  return (
    <Part title="Events and deliveries" count={recorded.events.length}>
      {recorded.events.length === 0 && <Empty>It caused no event.</Empty>}
      <ul class="events">
        {recorded.events.map((id) => {
          const event = events.find((each) => each.id === id)
          const deliveries = recorded.deliveries.filter(({ event_id }) => event_id === id)
          return (
            <li key={id}>
              <details>
                <summary>
                  <strong>{event?.type ?? deliveries[0]?.event_type ?? 'event'}</strong>
                  {deliveries.length === 0 ? (
                    <span class="soft"> no delivery</span>
                  ) : (
                    deliveries.map((delivery) => (
                      <Tag key={delivery.id} kind={delivery.status === 'delivered' ? 'good' : 'bad'}>
                        {delivery.status} {delivery.response_status ?? ''}
                      </Tag>
                    ))
                  )}
                </summary>
                <p class="mono soft">{id}</p>
                {event && <Body text={JSON.stringify(event.data)} label={`Data of ${event.type}`} />}
              </details>
            </li>
          )
        })}
      </ul>
    </Part>
  )
}

const COPIES = { curl: 'curl', har: 'HAR', node: 'node:test', pytest: 'pytest' } as const

const Actions = ({ recorded, world, place }: { recorded: RecordedRequest; world: string; place: Place }) => {
  const path = `/requests/${recorded.id}`
  const replay = (fault?: string) =>
    act(async () => {
      const { status } = await ask<{ status: number }>('POST', `${path}/replay`, {
        world,
        body: fault ? { fault } : {},
      })
      const [newest] = await get<RecordedRequest[]>('/requests', { world, query: { limit: '1' } })
      if (newest) go({ page: 'requests', world: place.world, id: newest.id, idWorld: world })
      say(`Sent again: ${status}`)
    })
  return (
    <div class="actions">
      <button type="button" class="primary" onClick={() => replay()}>
        Replay
      </button>
      <fieldset class="toggle" aria-label="Copy as">
        {Object.entries(COPIES).map(([format, name]) => (
          <button
            key={format}
            type="button"
            aria-label={`Copy as ${name}`}
            onClick={async () => copy(await askText('GET', path, { world, query: { format } }), `as ${name}`)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <WithFault recorded={recorded} onAsk={replay} />
    </div>
  )
}

/** Asks for the same with one of the errors that are documented for it. */
const WithFault = ({ recorded, onAsk }: { recorded: RecordedRequest; onAsk: (fault: string) => void }) => {
  const { value: errors = [] } = useLoaded(() => get<DocumentedError[]>('/errors'), [])
  const [name, setName] = useState('')
  const [isAfter, setAfter] = useState(false)
  const possible = errors.filter(({ method, path }) => method === recorded.method && path === recorded.route)
  return (
    <form
      class="fault"
      onSubmit={(event) => {
        event.preventDefault()
        if (name !== '') onAsk(isAfter ? `${name}; when=after` : name)
      }}
    >
      <select aria-label="Fault" value={name} onChange={(event) => setName(event.currentTarget.value)}>
        <option value="">Ask again with a fault…</option>
        {possible.map((error) => (
          <option key={error.name} value={error.name}>
            {error.status} {error.name}
          </option>
        ))}
      </select>
      <label>
        <input type="checkbox" checked={isAfter} onChange={(event) => setAfter(event.currentTarget.checked)} /> after
        the work
      </label>
      <button type="submit" disabled={name === ''}>
        Ask
      </button>
    </form>
  )
}
