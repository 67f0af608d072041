import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { Attempts } from '../../../../pages/ui/attempts.tsx'
import { Button } from '../../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../../pages/ui/hooks.ts'
import { act } from '../../../../pages/ui/notices.tsx'
import { Card, Empty, Tag } from '../../../../pages/ui/pieces.tsx'
import { readClients, sendAs } from '../api.ts'
import { hrefOf } from '../place.ts'
import type { SandboxClient, Webhook } from '../types.ts'

interface Props {
  world: string
  /** Undefined until they are read. */
  webhooks: readonly Webhook[] | undefined
  onChanged: () => void
}

/** The webhooks of all clients of a world. Requests register and edit them, as those of any client do. */
export const Webhooks = ({ world, webhooks, onChanged }: Props) => {
  const { value: clients = [] } = useLoaded(() => readClients(world), [world])
  const register = hrefOf({ page: 'send', world, operation: 'createWebhook' })
  return (
    <Card title="Webhooks" aside={<a href={register}>Register a webhook</a>}>
      {webhooks?.length === 0 && (
        <Empty>No client of this world has a webhook. Register an inbox of this sandbox, or your own receiver.</Empty>
      )}
      <ul class="items">
        {webhooks?.map((webhook) => (
          <WebhookView key={webhook.id} webhook={webhook} world={world} clients={clients} onChanged={onChanged} />
        ))}
      </ul>
    </Card>
  )
}

/** The last attempts, of which the first are shown at once. */
const ATTEMPTS_SHOWN = 5

interface ViewProps {
  webhook: Webhook
  world: string
  clients: readonly SandboxClient[]
  onChanged: () => void
}

/** A webhook with its last deliveries and its actions. */
const WebhookView = ({ webhook, world, clients, onChanged }: ViewProps) => {
  const { active, name, waiting } = webhook
  const latest = webhook.deliveries.slice(0, ATTEMPTS_SHOWN)
  const earlier = webhook.deliveries.slice(ATTEMPTS_SHOWN)
  const client = clients.find(({ client_id: id }) => id === webhook.client_id)?.username
  const change = async (method: string, done: string, { body, under = '' }: { body?: object; under?: string } = {}) => {
    const path = `/api/v1/webhooks/${webhook.id}${under}`
    if (await act(() => sendAs(world, { method, path, body, client }), done)) onChanged()
  }
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
          <summary>{earlier.length} earlier attempts</summary>
          <Attempts attempts={earlier} />
        </details>
      )}
    </li>
  )
}
