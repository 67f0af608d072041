import type { ComponentChildren } from 'preact'
import { adviceAbout, kindOf } from '../../../../docs/advice.ts'
import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { Body, HeaderList } from '../../../../pages/ui/body.tsx'
import { EventView } from '../../../../pages/ui/event.tsx'
import { Button } from '../../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../../pages/ui/hooks.ts'
import { LedgerTable } from '../../../../pages/ui/ledger.tsx'
import { Failed, ms, Tag, time } from '../../../../pages/ui/pieces.tsx'
import { hrefOf, type Place } from '../../../../pages/ui/place.ts'
import { inWords, RESENDING_CLIENTS, resentInWords } from '../../../requests/in-words.ts'
import { get } from '../api.ts'
import type { RequestDetail } from '../types.ts'
import { Actions } from './actions.tsx'
import { Rows } from './rows.tsx'
import { FaultTag, Method, Status } from './tags.tsx'

interface Props {
  id: string
  world: string
  place: Place
  onClose: () => void
}

/** One request: its changes, its messages and its actions. */
export const RequestView = ({ id, world, place, onClose }: Props) => {
  const { value: recorded, error } = useLoaded(() => get<RequestDetail>(`/requests/${id}`, { world }), [id, world])
  return (
    <section class="request" aria-label={`Request ${id} of ${world}`}>
      <header class="line">
        <h2>
          {recorded ? <Method method={recorded.method} /> : 'Request'}{' '}
          <span class="mono">{recorded ? visible(recorded.path) : id}</span>
        </h2>
        <Button text="✕" aria-label="Close the request" onClick={onClose} />
      </header>
      <Failed
        error={error && `${error}: the log of ${world} holds its last 1,000 requests, of at most 4 MiB together.`}
      />
      {recorded && <Opened recorded={recorded} world={world} place={place} />}
    </section>
  )
}

const Opened = ({ recorded, world, place }: { recorded: RequestDetail; world: string; place: Place }) => {
  const { request, response, changes, ledger, events } = recorded
  return (
    <>
      <p class="line soft">
        <Status status={response.status} />
        {recorded.outcome && <Tag kind={recorded.outcome === 'success' ? 'good' : 'bad'}>{recorded.outcome}</Tag>}
        {recorded.fault && <FaultTag fault={recorded.fault} />}
        {recorded.dry_run && <Tag kind="info">dry run</Tag>}
        <span>{ms(recorded.duration_ms)}</span>
        <span>{time(recorded.at)}</span>
        <span>world {recorded.world}</span>
        {recorded.client && <span>client {visible(recorded.client)}</span>}
        <span class="mono">{visible(recorded.request_id)}</span>
      </p>
      {recorded.resent && <Resent recorded={recorded} world={world} />}
      {recorded.message !== null && <Refusal {...recorded} message={recorded.message} />}
      <section class="hint good" aria-label="Changes of the request">
        <ul>
          {inWords(recorded).map(({ text, record }) => (
            <li key={text}>
              {record ? (
                <a href={hrefOf({ page: record.page, world, record: record.id })}>{visible(text)}</a>
              ) : (
                visible(text)
              )}
            </li>
          ))}
        </ul>
      </section>
      <Actions recorded={recorded} world={world} place={place} />
      {ledger.length > 0 && (
        <Part title="Ledger" count={ledger.length}>
          <LedgerTable entries={ledger} />
        </Part>
      )}
      {events.length > 0 && (
        <Part title="Events and deliveries" count={events.length}>
          <Effects recorded={recorded} world={world} />
        </Part>
      )}
      {changes.length > 0 && (
        <Part title="Rows changed" count={changes.length}>
          <Rows changes={changes} />
        </Part>
      )}
      <Part title="Response">
        <Body text={response.body} label="Body of the response" />
        <HeaderList headers={response.headers} />
      </Part>
      <Part title="Request">
        <Body text={request.body} label="Body of the request" />
        <HeaderList headers={request.headers} />
      </Part>
    </>
  )
}

/** Says that a write repeats one whose response was lost, and whether both were done. */
const Resent = ({ recorded, world }: { recorded: RequestDetail; world: string }) => {
  const of = String(recorded.resent_of)
  const { value: earlier } = useLoaded(
    () => get<RequestDetail>(`/requests/${of}`, { world }).catch(() => undefined),
    [of],
  )
  return (
    <p class="hint">
      {resentInWords(recorded, earlier)} <a href={RESENDING_CLIENTS}>What your client does on its own</a>{' '}
      <a href={hrefOf({ page: 'requests', world, id: of, of: world })}>Show request {of}</a>
    </p>
  )
}

/** The events that a request caused, and the results of their deliveries. */
const Effects = ({ recorded: { events, caused, deliveries }, world }: { recorded: RequestDetail; world: string }) => (
  <ul class="items">
    {events.map((id) => {
      const attempts = deliveries.filter(({ event_id }) => event_id === id)
      const { event_type: type = 'event' } = attempts[0] ?? {}
      return (
        <EventView
          key={id}
          event={caused.find((event) => event.id === id) ?? { id, type, created_at: '' }}
          attempts={attempts}
          href={hrefOf({ page: 'events', world, record: `event-${id}` })}
        />
      )
    })}
  </ul>
)

/** The message of an error, and advice. */
const Refusal = ({ message, outcome, path, world }: Omit<RequestDetail, 'message'> & { message: string }) => {
  const name = outcome ?? ''
  const advice = adviceAbout(name)
  const about = recordIn(path)
  return (
    <p class="failed">
      {visible(message)}
      {advice !== undefined && (
        <>
          <br />
          <a href={`/docs/guides/errors#${kindOf(name)}`}>What to do</a>: {advice.replaceAll('`', '')}.
        </>
      )}
      {about && (
        <>
          {' '}
          <a href={hrefOf({ ...about.place, world })}>Show {visible(about.name)}</a>
        </>
      )}
    </p>
  )
}

/** The record in a path, if the console shows it; for a product, the requests for it. */
const recordIn = (path: string): { name: string; place: Place } | undefined => {
  const [, kind, id] = /\/(order|payout|wallet|product)s\/([^/?]+)/.exec(path) ?? []
  if (kind === undefined || id === undefined) return undefined
  const page = { page: 'money', record: `${kind}-${id}` }
  return { name: `${kind} ${id}`, place: kind === 'product' ? { page: 'requests', q: `/products/${id}` } : page }
}

const Part = ({ title, count, children }: { title: string; count?: number; children: ComponentChildren }) => (
  <section aria-label={title}>
    <h3>
      {title} {count !== undefined && <span class="tag">{count}</span>}
    </h3>
    {children}
  </section>
)
