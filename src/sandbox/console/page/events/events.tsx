import { ask, get } from '../api.ts'
import { Body } from '../body.tsx'
import { type Place, worldOf } from '../place.ts'
import { useNews } from '../store.ts'
import type { InboxMessage, ScripEvent } from '../types.ts'
import { act, Card, clockTime, Empty, Failed, useLoaded, visible } from '../ui.tsx'
import { Inbox } from './inbox.tsx'
import { type Webhook, WebhookView } from './webhook.tsx'

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
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await act(work, done)) loaded.reload()
  }
  return (
    <div class="cards">
      <Failed error={loaded.error} />
      <Card
        title={`Events of ${world}`}
        aside={
          <div class="line">
            <button
              type="button"
              onClick={() => change(() => ask('POST', '/webhooks/settle', { world }), 'Nothing waits now')}
            >
              Deliver all
            </button>
            <button type="button" onClick={loaded.reload}>
              Read again
            </button>
          </div>
        }
      >
        {events.length === 0 && <Empty>Nothing has happened.</Empty>}
        <ul class="events tall">
          {events.map((event) => (
            <li key={event.id}>
              <details>
                <summary>
                  <strong>{event.type}</strong> <span class="soft id">{visible(String(event.data.id ?? ''))}</span>
                  <span class="soft mono at">{clockTime(event.created_at)}</span>
                </summary>
                <div class="line">
                  <span class="mono soft">{event.id}</span>
                  <button
                    type="button"
                    aria-label={`Resend ${event.type} ${event.id}`}
                    onClick={() =>
                      change(() => ask('POST', `/events/${event.id}/redeliver`, { world }), 'On its way again')
                    }
                  >
                    Resend
                  </button>
                </div>
                <Body text={JSON.stringify(event.data)} label={`Data of ${event.id}`} />
              </details>
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Webhooks">
        {webhooks.length === 0 && <Empty>No client of this world has one.</Empty>}
        {webhooks.map((webhook) => (
          <WebhookView key={webhook.id} webhook={webhook} />
        ))}
      </Card>
      <Inbox world={world} messages={inbox} onChange={change} />
    </div>
  )
}
