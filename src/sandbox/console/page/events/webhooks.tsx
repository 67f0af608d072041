import { errorMessageIn } from '../../../../http/error-message.ts'
import { counted } from '../../../../kernel/counted.ts'
import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { Attempts } from '../../../../pages/ui/event.tsx'
import { Button } from '../../../../pages/ui/forms.tsx'
import { act } from '../../../../pages/ui/notices.tsx'
import { Tag } from '../../../../pages/ui/pieces.tsx'
import { ask } from '../api.ts'
import type { Sent, Webhook } from '../types.ts'

/** The last attempts, of which the first are shown at once. */
const ATTEMPTS_SHOWN = 5

interface Props {
  webhook: Webhook
  world: string
  /** The username of its client. */
  client: string | undefined
}

/** A webhook with its last deliveries and its actions, which are requests of its client. */
export const WebhookView = ({ webhook, world, client }: Props) => {
  const { active, name, waiting } = webhook
  const latest = webhook.deliveries.slice(0, ATTEMPTS_SHOWN)
  const earlier = webhook.deliveries.slice(ATTEMPTS_SHOWN)
  const change = (method: string, done: string, { body, under = '' }: { body?: object; under?: string } = {}) =>
    act(async () => {
      const path = `/api/v1/webhooks/${webhook.id}${under}`
      const sent = { method, path, client, ...(body && { body: JSON.stringify(body) }) }
      const response = await ask<Sent>('POST', '/requests', { world, body: sent })
      if (response.status >= 400) throw new Error(errorMessageIn(response.body) ?? `${response.status}`)
    }, done)
  const toggle = () => change('PATCH', active ? 'Disabled' : 'Enabled', { body: { active: !active } })
  return (
    <li class="webhook">
      <p>
        <Tag kind={active ? 'good' : 'bad'}>{active ? 'on' : (webhook.disabled_reason ?? 'off')}</Tag>{' '}
        <strong>{visible(name)}</strong> {waiting > 0 && <Tag kind="warn">{waiting} waiting</Tag>}
      </p>
      <p class="mono soft">{visible(webhook.url)}</p>
      <p class="soft">
        {webhook.events.join(', ')} · signed {webhook.signing} · {client ?? `client ${webhook.client_id}`} ·{' '}
        <span class="mono">{webhook.id}</span>
      </p>
      <div class="line">
        <Button text="Ping" onClick={() => change('POST', 'Sent a ping', { under: '/ping' })} />
        <Button text={active ? 'Disable' : 'Enable'} onClick={toggle} />
        <Button text="Delete" class="danger" onClick={() => change('DELETE', 'Deleted the webhook')} />
      </div>
      {latest.length > 0 && <Attempts attempts={latest} />}
      {earlier.length > 0 && (
        <details>
          <summary>{counted(earlier.length, 'earlier attempt')}</summary>
          <Attempts attempts={earlier} />
        </details>
      )}
    </li>
  )
}
