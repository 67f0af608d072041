import { useState } from 'preact/hooks'
import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { Button } from '../forms.tsx'
import { act } from '../notices.tsx'
import { sendAs } from '../send-as.ts'
import type { SandboxClient, Webhook } from '../types.ts'
import { Tag } from '../ui.tsx'
import { Attempts } from './attempts.tsx'
import { WebhookForm } from './webhook-form.tsx'

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
  const { active, name, waiting } = webhook
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
  const turn = () => change('PATCH', active ? 'Disabled' : 'Enabled', { active: !active })
  return (
    <section class="webhook" aria-label={`Webhook ${visible(name)}`}>
      <p>
        <Tag kind={active ? 'good' : 'bad'}>{active ? 'on' : (webhook.disabled_reason ?? 'off')}</Tag>{' '}
        <strong>{visible(name)}</strong> {waiting > 0 && <Tag kind="warn">{waiting} waiting</Tag>}
      </p>
      <p class="mono soft">{visible(webhook.url)}</p>
      <p class="soft">
        {webhook.events.join(', ')} · signed {webhook.signing} · {client ?? `client ${webhook.client_id}`}
      </p>
      <div class="line">
        <Button text="Ping" onClick={() => change('POST', 'Sent a ping', undefined, '/ping')} />
        <Button text={active ? 'Disable' : 'Enable'} onClick={turn} />
        <Button text="Edit" aria-expanded={isEdited} onClick={() => setEdited(!isEdited)} />
        <Button text="Rotate secret" onClick={() => change('POST', 'Rotated the secret', undefined, '/rotate')} />
        <Button text="Delete" class="danger" onClick={() => change('DELETE', 'Deleted the webhook')} />
      </div>
      {isEdited && (
        <WebhookForm
          clients={clients}
          world={world}
          edited={webhook}
          onSave={async (fields) => (await change('PATCH', 'Saved', fields)) && setEdited(false)}
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
