import { errorMessageIn } from '../../../../http/error-message.ts'
import { counted } from '../../../../kernel/counted.ts'
import { Attempts } from '../../../../pages/ui/event.tsx'
import { Button } from '../../../../pages/ui/forms.tsx'
import { act } from '../../../../pages/ui/notices.tsx'
import { ask } from '../api.ts'
import type { Recorded } from '../records.tsx'
import type { Delivery, SandboxClient, Sent, Webhook } from '../types.ts'

/** The webhooks of a world with their last deliveries, and their actions, which are requests of their clients. */

interface WebhookRecord extends Recorded {
  webhook: Webhook
  /** The username of its client. */
  client: string | undefined
}

export const webhookRecord = (webhook: Webhook, clients: readonly SandboxClient[]): WebhookRecord => {
  const { id, name, active, disabled_reason: reason, url, events, signing, waiting } = webhook
  const client = clients.find(({ client_id }) => client_id === webhook.client_id)?.username
  const status = active ? 'on' : (reason ?? 'off')
  return { webhook, client, row: { id, status, name, url, events, signing, client: client ?? null, waiting } }
}

export const WebhookActions = ({ webhook: { id, active }, client, world }: WebhookRecord & { world: string }) => {
  const change = (method: string, done: string, { body, under = '' }: { body?: object; under?: string } = {}) =>
    act(async () => {
      const path = `/api/v1/webhooks/${id}${under}`
      const sent = { method, path, client, ...(body && { body: JSON.stringify(body) }) }
      const response = await ask<Sent>('POST', '/requests', { world, body: sent })
      if (response.status >= 400) throw new Error(errorMessageIn(response.body) ?? `${response.status}`)
    }, done)
  const toggle = () => change('PATCH', active ? 'Disabled' : 'Enabled', { body: { active: !active } })
  return (
    <div class="line">
      <Button text="Ping" onClick={() => change('POST', 'Sent a ping', { under: '/ping' })} />
      <Button text={active ? 'Disable' : 'Enable'} onClick={toggle} />
      <Button text="Delete" class="danger" onClick={() => change('DELETE', 'Deleted the webhook')} />
    </div>
  )
}

/** The last attempts, of which the first are shown at once. */
const ATTEMPTS_SHOWN = 5

export const Deliveries = ({ attempts }: { attempts: readonly Delivery[] }) => {
  const earlier = attempts.slice(ATTEMPTS_SHOWN)
  return (
    <>
      {attempts.length > 0 && <Attempts attempts={attempts.slice(0, ATTEMPTS_SHOWN)} />}
      {earlier.length > 0 && (
        <details>
          <summary>{counted(earlier.length, 'earlier attempt')}</summary>
          <Attempts attempts={earlier} />
        </details>
      )}
    </>
  )
}
