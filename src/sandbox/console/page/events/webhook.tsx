import type { Delivery } from '../types.ts'
import { Tag, visible } from '../ui.tsx'
import { Attempts } from './attempts.tsx'

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

/** A webhook, and how its last deliveries went. */
export const WebhookView = ({ webhook }: { webhook: Webhook }) => {
  const latest = webhook.deliveries.slice(0, ATTEMPTS_SHOWN)
  const earlier = webhook.deliveries.slice(ATTEMPTS_SHOWN)
  return (
    <section class="webhook" aria-label={`Webhook ${visible(webhook.name)}`}>
      <p>
        <Tag kind={webhook.active ? 'good' : 'bad'}>{webhook.active ? 'on' : (webhook.disabled_reason ?? 'off')}</Tag>{' '}
        <strong>{visible(webhook.name)}</strong>{' '}
        {webhook.waiting > 0 && <Tag kind="warn">{webhook.waiting} waiting</Tag>}
      </p>
      <p class="mono soft">{visible(webhook.url)}</p>
      <p class="soft">
        {webhook.events.join(', ')} · signed {webhook.signing} · client {webhook.client_id}
      </p>
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
