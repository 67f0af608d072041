import { useState } from 'preact/hooks'
import { Field, Form, named, Select } from '../forms.tsx'
import type { SandboxClient } from '../types.ts'
import { inboxUrl } from './inbox.tsx'

export interface WebhookFields {
  name: string
  url: string
  events: string[]
  signing?: string
}

interface Props {
  clients: readonly SandboxClient[]
  world: string
  /** The webhook that is edited; undefined for a new one. */
  edited?: WebhookFields | undefined
  onSave: (fields: WebhookFields, client: string | undefined) => unknown
}

const SIGNINGS = { standard: 'Standard Webhooks', timestamped: 'timestamp and body', body: 'body alone' } as const

/** Registers a webhook, or changes one. */
export const WebhookForm = ({ clients, world, edited, onSave }: Props) => {
  const [name, setName] = useState(edited?.name ?? 'My receiver')
  const [url, setUrl] = useState(edited?.url ?? inboxUrl(world))
  const [events, setEvents] = useState(edited?.events.join(', ') ?? '*')
  const [signing, setSigning] = useState('standard')
  const [chosen, setChosen] = useState<string>()
  const client = chosen ?? clients[0]?.username
  const save = () => {
    const types = events.split(/[\s,]+/).filter(Boolean)
    return onSave({ name, url, events: types, ...(!edited && { signing }) }, client)
  }
  return (
    <Form class="form" onSubmit={save}>
      <Field label="Name" required value={name} onText={setName} />
      <Field label="URL" required type="url" value={url} onText={setUrl} />
      <Field label="Event types" required value={events} onText={setEvents} />
      {!edited && (
        <>
          <label>
            Signature
            <Select value={signing} options={Object.entries(SIGNINGS)} onChoose={setSigning} />
          </label>
          <label>
            Client
            <Select value={client} options={named(clients.map(({ username }) => username))} onChoose={setChosen} />
          </label>
        </>
      )}
      <button type="submit" class="primary">
        {edited ? 'Save' : 'Register'}
      </button>
    </Form>
  )
}
