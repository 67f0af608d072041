import { useState } from 'preact/hooks'
import { Button } from '../forms.tsx'
import { useLoaded } from '../hooks.ts'
import { act, copy } from '../notices.tsx'
import { readClients, sendAs } from '../send-as.ts'
import type { Webhook } from '../types.ts'
import { Card, Code } from '../ui.tsx'
import { WebhookView } from './webhook.tsx'
import { type WebhookFields, WebhookForm } from './webhook-form.tsx'

interface Props {
  world: string
  webhooks: readonly Webhook[]
  isLoaded: boolean
  onChanged: () => void
}

/** The webhooks of all clients of a world, and a form for a new one. */
export const Webhooks = ({ world, webhooks, isLoaded, onChanged }: Props) => {
  const { value: clients = [] } = useLoaded(() => readClients(world), [world])
  const [secret, setSecret] = useState<string>()
  const [isAdding, setAdding] = useState(false)
  const isEmpty = isLoaded && webhooks.length === 0
  const register = async (body: WebhookFields, client: string | undefined): Promise<void> => {
    const isSaved = await act(async () => {
      const path = '/api/v1/webhooks'
      const made = await sendAs<{ secret: string }>(world, { method: 'POST', path, body, client })
      setSecret(made.secret)
    }, `Registered ${body.name}`)
    if (!isSaved) return
    setAdding(false)
    onChanged()
  }
  const add = <Button text="Register a webhook" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)} />
  return (
    <Card title="Webhooks" aside={!isEmpty && add}>
      {secret !== undefined && (
        <div class="secret" role="status">
          <p>The signing secret, shown only now:</p>
          <p class="line">
            <code>{secret}</code>
            <Button text="Copy" onClick={() => copy(secret, 'the secret')} />
            <Button text="Hide" onClick={() => setSecret(undefined)} />
          </p>
        </div>
      )}
      {isEmpty && <FirstWebhook />}
      {(isEmpty || isAdding) && <WebhookForm key={world} clients={clients} world={world} onSave={register} />}
      {webhooks.map((webhook) => (
        <WebhookView
          key={webhook.id}
          webhook={webhook}
          world={world}
          clients={clients}
          onChanged={onChanged}
          onSecret={setSecret}
        />
      ))}
    </Card>
  )
}

const RECEIVER = `import { createServer } from 'node:http'

createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  console.log(request.headers['webhook-id'], JSON.parse(body).type)
  response.end()
}).listen(3000)`

const FirstWebhook = () => (
  <>
    <p class="soft">
      No client of this world has a webhook. The form is filled in with an inbox of this sandbox. To use your own
      receiver, start it and enter its URL, such as http://127.0.0.1:3000.
    </p>
    <details>
      <summary>A receiver in ten lines</summary>
      <Code label="A receiver for Node">{RECEIVER}</Code>
    </details>
  </>
)
