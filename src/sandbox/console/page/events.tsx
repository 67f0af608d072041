import { useState } from 'preact/hooks'
import { ask, get } from './api.ts'
import { Body } from './body.tsx'
import { ALL_WORLDS, type Place } from './place.ts'
import { useNews } from './store.ts'
import type { Delivery, InboxMessage, ScripEvent } from './types.ts'
import { act, Card, clockTime, Empty, Failed, ms, Tag, useLoaded, visible } from './ui.tsx'

interface Webhook {
  id: string
  client_id: number
  name: string
  url: string
  events: string[]
  signing: string
  active: boolean
  disabled_reason: string | null
  waiting: number
  deliveries: Delivery[]
}

/** What happened, to whom it was delivered, and what the inboxes of the world have received. */
export const Events = ({ place }: { place: Place }) => {
  const world = place.world === ALL_WORLDS ? 'default' : place.world
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
                  <span class="soft mono">{clockTime(event.created_at)}</span>
                </summary>
                <div class="line">
                  <span class="mono soft">{event.id}</span>
                  <button
                    type="button"
                    aria-label={`Deliver ${event.type} ${event.id} again`}
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
      <Card
        title="Inbox"
        aside={
          inbox.length > 0 && (
            <button
              type="button"
              class="danger"
              onClick={() => change(() => ask('DELETE', '/inbox', { world }), 'The inboxes are empty')}
            >
              Empty
            </button>
          )
        }
      >
        {inbox.length === 0 && (
          <Empty>
            Deliveries to <span class="mono">/_sandbox/inbox/NAME?world={world}</span> arrive here.
          </Empty>
        )}
        <ReplyForm
          onSet={(name, status) =>
            change(
              () => ask('PUT', `/inbox/${encodeURIComponent(name)}`, { world, body: { status } }),
              `${name} answers ${status}`,
            )
          }
        />
        <ul class="events tall">
          {inbox.map((message) => (
            <li key={message.id}>
              <details>
                <summary>
                  <strong>{visible(message.name)}</strong>{' '}
                  <span class="soft mono">{clockTime(message.received_at)}</span> {typeIn(message.body)}
                </summary>
                <Body text={message.body} label={`Message ${message.id}`} />
                <dl class="plain">
                  {Object.entries(message.headers).map(([name, value]) => (
                    <div key={name}>
                      <dt>{visible(name)}</dt>
                      <dd>{visible(value)}</dd>
                    </div>
                  ))}
                </dl>
              </details>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  )
}

const typeIn = (body: string): string => {
  try {
    const { type } = JSON.parse(body) as { type?: unknown }
    return typeof type === 'string' ? visible(type) : ''
  } catch {
    return ''
  }
}

const WebhookView = ({ webhook }: { webhook: Webhook }) => (
  <section class="webhook" aria-label={`Webhook ${visible(webhook.name)}`}>
    <p>
      <Tag kind={webhook.active ? 'good' : 'bad'}>{webhook.active ? 'on' : (webhook.disabled_reason ?? 'off')}</Tag>{' '}
      <strong>{visible(webhook.name)}</strong> <span class="soft">client {webhook.client_id}</span>{' '}
      {webhook.waiting > 0 && <Tag kind="warn">{webhook.waiting} waiting</Tag>}
    </p>
    <p class="mono soft">{visible(webhook.url)}</p>
    <p class="soft">
      {webhook.events.join(', ')} · {webhook.signing}
    </p>
    {webhook.deliveries.length > 0 && (
      <table>
        <thead>
          <tr>
            <th>Event</th>
            <th>Attempt</th>
            <th>Result</th>
            <th class="right">Took</th>
          </tr>
        </thead>
        <tbody>
          {webhook.deliveries.map((delivery) => (
            <tr key={delivery.id}>
              <td>{delivery.event_type}</td>
              <td>{delivery.attempt}</td>
              <td>
                <Tag kind={delivery.status === 'delivered' ? 'good' : 'bad'}>
                  {delivery.status} {delivery.response_status ?? ''}
                </Tag>
              </td>
              <td class="right mono">{ms(delivery.duration_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
)

/** What a receiver answers from now on: how to see retries. */
const ReplyForm = ({ onSet }: { onSet: (name: string, status: number) => void }) => {
  const [name, setName] = useState('')
  const [status, setStatus] = useState('200')
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault()
        onSet(name, Number(status))
      }}
    >
      <input
        aria-label="Name of the inbox"
        placeholder="Inbox"
        required
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <select aria-label="Answers" value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
        {['200', '410', '500', '503'].map((each) => (
          <option key={each} value={each}>
            answers {each}
          </option>
        ))}
      </select>
      <button type="submit">Set</button>
    </form>
  )
}
