import { useState } from 'preact/hooks'
import { sendAs } from '../send-as.ts'
import type { Delivery, SandboxClient } from '../types.ts'
import { act, Tag, visible } from '../ui.tsx'
import { Attempts } from './attempts.tsx'
import { WebhookForm } from './webhook-form.tsx'

export interface Webhook {
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

/** The last attempts, of which the first are shown at once. */
const ATTEMPTS_SHOWN = 5

interface Props {
  webhook: Webhook
  world: string
  clients: readonly SandboxClient[]
  onChanged: () => void
  onSecret: (secret: string) => void
}

/** A webhook, how its last deliveries went, and what can be done with it. */
export const WebhookView = ({ webhook, world, clients, onChanged, onSecret }: Props) => {
  const [isEdited, setEdited] = useState(false)
  const latest = webhook.deliveries.slice(0, ATTEMPTS_SHOWN)
  const earlier = webhook.deliveries.slice(ATTEMPTS_SHOWN)
  const client = clients.find(({ client_id: id }) => id === webhook.client_id)?.username
  const path = `/api/v1/webhooks/${webhook.id}`
  const change = async (method: string, done: string, body?: object, under = ''): Promise<boolean> => {
    const isDone = await act(async () => {
      const changed = await sendAs<{ secret?: string } | undefined>(world, { method, path: path + under, body, client })
      if (changed?.secret) onSecret(changed.secret)
    }, done)
    if (isDone) onChanged()
    return isDone
  }
  return (
    <section class="webhook" aria-label={`Webhook ${visible(webhook.name)}`}>
      <p>
        <Tag kind={webhook.active ? 'good' : 'bad'}>{webhook.active ? 'on' : (webhook.disabled_reason ?? 'off')}</Tag>{' '}
        <strong>{visible(webhook.name)}</strong>{' '}
        {webhook.waiting > 0 && <Tag kind="warn">{webhook.waiting} waiting</Tag>}
      </p>
      <p class="mono soft">{visible(webhook.url)}</p>
      <p class="soft">
        {webhook.events.join(', ')} · signed {webhook.signing} · {client ?? `client ${webhook.client_id}`}
      </p>
      <div class="line">
        <button type="button" onClick={() => change('POST', 'Sent a ping', undefined, '/ping')}>
          Ping
        </button>
        <button
          type="button"
          onClick={() => change('PATCH', webhook.active ? 'Disabled' : 'Enabled', { active: !webhook.active })}
        >
          {webhook.active ? 'Disable' : 'Enable'}
        </button>
        <button type="button" aria-expanded={isEdited} onClick={() => setEdited(!isEdited)}>
          Edit
        </button>
        <button type="button" onClick={() => change('POST', 'Rotated the secret', undefined, '/rotate')}>
          Rotate secret
        </button>
        <button type="button" class="danger" onClick={() => change('DELETE', 'Deleted the webhook')}>
          Delete
        </button>
      </div>
      {isEdited && (
        <WebhookForm
          clients={clients}
          world={world}
          edited={webhook}
          onSave={async (fields) => {
            const isSaved = await change('PATCH', 'Saved', fields)
            if (isSaved) setEdited(false)
            return isSaved
          }}
        />
      )}
      {latest.length > 0 && <Attempts attempts={latest} />}
      {earlier.length > 0 && (
        <details>
          <summary>{earlier.length} earlier attempts</summary>
          <Attempts attempts={earlier} />
        </details>
      )}
    </section>
  )
}
