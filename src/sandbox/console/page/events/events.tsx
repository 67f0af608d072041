import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { EventView } from '../../../../pages/ui/event.tsx'
import { Button } from '../../../../pages/ui/forms.tsx'
import { useLoaded, usePointedAt } from '../../../../pages/ui/hooks.ts'
import { act } from '../../../../pages/ui/notices.tsx'
import { Card, Empty, Failed } from '../../../../pages/ui/pieces.tsx'
import { hrefOf, type Place } from '../../../../pages/ui/place.ts'
import { recordIdOf } from '../../../requests/in-words.ts'
import { ask, get, readClients } from '../api.ts'
import { worldOf } from '../place.ts'
import { MadeBy } from '../requests/tags.tsx'
import { useNews } from '../store.ts'
import type { InboxMessage, ScripEvent, Webhook } from '../types.ts'
import { Inbox } from './inbox.tsx'
import { WebhookView } from './webhooks.tsx'

/** The events of a world, their deliveries, and the messages in its inboxes. */
export const Events = ({ place }: { place: Place }) => {
  const world = worldOf(place)
  const news = useNews()
  const { value, error, reload } = useLoaded(async () => {
    const [events, webhooks, clients, inbox] = await Promise.all([
      get<ScripEvent[]>('/events', { world }),
      get<Webhook[]>('/webhooks', { world }),
      readClients(world),
      get<InboxMessage[]>('/inbox', { world }),
    ])
    return { events, webhooks, clients, inbox }
  }, [world, news])
  usePointedAt(place.record, value !== undefined)
  const register = hrefOf({ page: 'send', world, operation: 'createWebhook' })
  const settle = () => act(() => ask('POST', '/webhooks/settle', { world }), 'Delivered everything that is due')
  const resend = (id: string) =>
    act(() => ask('POST', `/events/${id}/redeliver`, { world, body: {} }), 'On its way again')
  const aside = (
    <div class="line">
      <Button text={`Deliver what is due in ${world}`} onClick={settle} />
      <Button text="Refresh" onClick={reload} />
    </div>
  )
  return (
    <div class="cards">
      <Failed error={error} />
      <Card title="Webhooks" aside={<a href={register}>Register a webhook</a>}>
        {value?.webhooks.length === 0 && (
          <Empty>No client of this world has a webhook. Register an inbox of this sandbox, or your own receiver.</Empty>
        )}
        <ul class="items">
          {value?.webhooks.map((webhook) => (
            <WebhookView
              key={webhook.id}
              webhook={webhook}
              world={world}
              client={value.clients.find(({ client_id: id }) => id === webhook.client_id)?.username}
            />
          ))}
        </ul>
      </Card>
      <Inbox world={world} messages={value?.inbox ?? []} />
      <Card title={`Events of ${world}`} aside={aside}>
        {value?.events.length === 0 && <Empty>No events yet. Place an order, make a payout or fund a wallet.</Empty>}
        <ul class="items tall">
          {value?.events.map((event) => (
            <EventView
              key={event.id}
              event={event}
              isPointedAt={place.record === `event-${event.id}`}
              about={<span class="soft">{visible(recordIdOf(event))}</span>}
            >
              <MadeBy world={world} made={{ event: event.id }} />
              <Button text="Resend" aria-label={`Resend: ${event.type} ${event.id}`} onClick={() => resend(event.id)} />
            </EventView>
          ))}
        </ul>
      </Card>
    </div>
  )
}
