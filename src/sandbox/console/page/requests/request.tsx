import type { ComponentChildren } from 'preact'
import { get } from '../api.ts'
import { Body, HeaderList } from '../body.tsx'
import { LedgerTable } from '../money/ledger.tsx'
import { hrefOf, type Place } from '../place.ts'
import type { RequestDetail } from '../types.ts'
import { Empty, Failed, ms, Status, Tag, time, useLoaded, visible } from '../ui.tsx'
import { Actions } from './actions.tsx'
import { Effects } from './effects.tsx'
import { Rows } from './rows.tsx'

/** One request: what came and went, what it changed, and what can be done with it. */
export const RequestView = ({ id, world, place }: { id: number; world: string; place: Place }) => {
  const { value: recorded, error } = useLoaded(() => get<RequestDetail>(`/requests/${id}`, { world }), [id, world])
  return (
    <section class="request" aria-label={`Request ${id} of ${world}`}>
      <a class="back" href={hrefOf({ page: 'requests', world: place.world })} aria-label="Close the request">
        ✕
      </a>
      <Failed error={error && `${error}: the log of ${world} holds its last 1,000 requests.`} />
      {recorded && <Opened recorded={recorded} world={world} place={place} />}
    </section>
  )
}

const Opened = ({ recorded, world, place }: { recorded: RequestDetail; world: string; place: Place }) => {
  const { request, response, changes, ledger, events } = recorded
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
      {changes.length === 0 && events.length === 0 ? (
        <Part title="Changes">
          <Empty>It changed nothing: no row, no money, no event.</Empty>
        </Part>
      ) : (
        <>
          <Part title="Rows changed" count={changes.length}>
            <Rows changes={changes} />
          </Part>
          <Part title="Ledger" count={ledger.length}>
            {ledger.length === 0 ? <Empty>It moved no money.</Empty> : <LedgerTable entries={ledger} />}
          </Part>
          <Part title="Events and deliveries" count={events.length}>
            <Effects recorded={recorded} />
          </Part>
        </>
      )}
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
