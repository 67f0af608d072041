import { ask, get } from '../api.ts'
import { Body } from '../body.tsx'
import { type Place, worldOf } from '../place.ts'
import { MadeBy } from '../requests/made-by.tsx'
import { useNews } from '../store.ts'
import type { InboxMessage, ScripEvent } from '../types.ts'
import { act, Card, clockTime, Empty, Failed, useLoaded, usePointedAt, visible } from '../ui.tsx'
import { Inbox } from './inbox.tsx'
import type { Webhook } from './webhook.tsx'
import { Webhooks } from './webhooks.tsx'

/** What happened, to whom it was delivered, and what the inboxes of the world have received. */
export const Events = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const loaded = useLoaded(async () => {
    const [events, webhooks, inbox] = await Promise.all([
      get<ScripEvent[]>('/events', { world }),
      get<Webhook[]>('/webhooks', { world }),
      get<InboxMessage[]>('/inbox', { world }),
    ])
    return { events, webhooks, inbox }
  }, [world, news])
  const { events = [], webhooks = [], inbox = [] } = loaded.value ?? {}
  usePointedAt(place.record, loaded.value !== undefined)
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await act(work, done)) loaded.reload()
  }
  return (
    <div class="cards">
      <Failed error={loaded.error} />
      <Webhooks world={world} webhooks={webhooks} isLoaded={loaded.value !== undefined} onChanged={loaded.reload} />
      <Inbox world={world} messages={inbox} onChange={change} />
      <Card
        title={`Events of ${world}`}
        aside={
          <div class="line">
            <button
              type="button"
              onClick={() =>
                change(() => ask('POST', '/webhooks/settle', { world }), 'Delivered everything that is due')
              }
            >
              Deliver what is due
            </button>
            <button type="button" onClick={loaded.reload}>
              Refresh
            </button>
          </div>
        }
      >
        {loaded.value && events.length === 0 && (
          <Empty>No events yet. An order, a payout or a funded wallet makes some.</Empty>
        )}
        <ul class="events tall">
          {events.map((event) => (
            <li key={event.id} id={`event-${event.id}`} tabIndex={-1}>
              <details open={place.record === `event-${event.id}`}>
                <summary>
                  <strong>{event.type}</strong> <span class="soft id">{visible(String(event.data.id ?? ''))}</span>
                  <span class="soft mono at">{clockTime(event.created_at)}</span>
                </summary>
                <div class="line">
                  <span class="mono soft">{event.id}</span>
                  <MadeBy world={world} made={{ event: event.id }} />
                </div>
                <div class="line">
                  <Resend event={event} webhooks={webhooks} world={world} onChange={change} />
                </div>
                <Body text={JSON.stringify(event.data)} label={`Data of ${event.id}`} />
              </details>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  )
}

interface ResendProps {
  event: ScripEvent
  webhooks: readonly Webhook[]
  world: string
  onChange: (work: () => Promise<unknown>, done: string) => Promise<void>
}

/** Delivers an event again, to all webhooks that take it or to one. */
const Resend = ({ event, webhooks, world, onChange }: ResendProps) => {
  const send = (webhookId: string) => {
    const body = webhookId === '' ? {} : { webhook_id: webhookId }
    return onChange(() => ask('POST', `/events/${event.id}/redeliver`, { world, body }), 'On its way again')
  }
  return (
    <>
      <button type="button" aria-label={`Resend to all: ${event.type} ${event.id}`} onClick={() => send('')}>
        Resend to all
      </button>
      {webhooks.length > 1 &&
        webhooks.map(({ id, name }) => (
          <button key={id} type="button" aria-label={`Resend ${event.id} to ${visible(name)}`} onClick={() => send(id)}>
            to {visible(name)}
          </button>
        ))}
    </>
  )
}
