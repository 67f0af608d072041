import { Body } from '../../../../pages/ui/body.tsx'
import { Button } from '../../../../pages/ui/forms.tsx'
import { useLoaded, usePointedAt } from '../../../../pages/ui/hooks.ts'
import { act } from '../../../../pages/ui/notices.tsx'
import { Failed } from '../../../../pages/ui/pieces.tsx'
import { hrefOf, type Place } from '../../../../pages/ui/place.ts'
import { recordIdOf } from '../../../requests/in-words.ts'
import { ask, get, readClients } from '../api.ts'
import { worldOf } from '../place.ts'
import { Records } from '../records.tsx'
import { MadeBy } from '../requests/tags.tsx'
import { useNews } from '../store.ts'
import type { InboxMessage, ScripEvent, Webhook } from '../types.ts'
import { Inbox } from './inbox.tsx'
import { Deliveries, WebhookActions, webhookRecord } from './webhooks.tsx'

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
    return {
      events: events.map((event) => {
        const { id, type, created_at } = event
        return { event, row: { id, type, record: recordIdOf(event), created_at } }
      }),
      webhooks: webhooks.map((webhook) => webhookRecord(webhook, clients)),
      inbox,
    }
  }, [world, news])
  usePointedAt(place.record, value !== undefined)
  const register = hrefOf({ page: 'send', world, operation: 'createWebhook' })
  const settle = () => act(() => ask('POST', '/webhooks/settle', { world }), 'Delivered everything that is due')
  const resend = (id: string) =>
    act(() => ask('POST', `/events/${id}/redeliver`, { world, body: {} }), 'On its way again')
  return (
    <div class="stack">
      <Failed error={error} />
      <Records
        kind="webhook"
        title="Webhooks"
        records={value?.webhooks}
        empty="No client of this world has a webhook. Register an inbox of this sandbox, or your own receiver."
        aside={<a href={register}>Register a webhook</a>}
        after={(record) => <WebhookActions {...record} world={world} />}
        below={({ webhook }) => <Deliveries attempts={webhook.deliveries} />}
      />
      <Inbox world={world} messages={value?.inbox} />
      <Records
        kind="event"
        title={`Events of ${world}`}
        records={value?.events}
        empty="No events yet. Place an order, make a payout or fund a wallet."
        aside={
          <>
            <Button text={`Deliver what is due in ${world}`} onClick={settle} />
            <Button text="Refresh" onClick={reload} />
          </>
        }
        pointedAt={place.record}
        after={({ event: { id, type } }) => (
          <div class="line">
            <MadeBy world={world} made={{ event: id }} />
            <Button text="Resend" aria-label={`Resend: ${type} ${id}`} onClick={() => resend(id)} />
          </div>
        )}
        below={({ event: { id, data } }) => (
          <details open={place.record === `event-${id}`}>
            <summary>Data</summary>
            <Body text={JSON.stringify(data)} label={`Data of ${id}`} />
          </details>
        )}
      />
    </div>
  )
}
