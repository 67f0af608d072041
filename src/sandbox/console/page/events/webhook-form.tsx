import { useState } from 'preact/hooks'
import type { SandboxClient } from '../types.ts'

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
  /** Whether it has worked: the form is emptied then. */
  onSave: (fields: WebhookFields, client: string | undefined) => Promise<boolean>
}

const SIGNINGS = { standard: 'Standard Webhooks', timestamped: 'timestamp and body', body: 'body alone' } as const

/** Registers a webhook, or changes one. */
export const WebhookForm = ({ clients, world, edited, onSave }: Props) => {
  const inbox = `${location.origin}/_sandbox/inbox/hooks?world=${world}`
  const [name, setName] = useState(edited?.name ?? 'My receiver')
  const [url, setUrl] = useState(edited?.url ?? inbox)
  const [events, setEvents] = useState(edited?.events.join(', ') ?? '*')
  const [signing, setSigning] = useState('standard')
  const [client, setClient] = useState<string>()
  return (
    <form
      class="form"
      onSubmit={async (event) => {
        event.preventDefault()
        const types = events.split(/[\s,]+/).filter(Boolean)
        await onSave({ name, url, events: types, ...(!edited && { signing }) }, client ?? clients[0]?.username)
      }}
    >
      <label>
        Name
        <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        URL
        <input required type="url" value={url} onInput={(event) => setUrl(event.currentTarget.value)} />
      </label>
      <label>
        Event types
        <input required value={events} onInput={(event) => setEvents(event.currentTarget.value)} />
      </label>
      {!edited && (
        <>
          <label>
            Signature
            <select value={signing} onChange={(event) => setSigning(event.currentTarget.value)}>
              {Object.entries(SIGNINGS).map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label>
            Client
            <select value={client ?? clients[0]?.username} onChange={(event) => setClient(event.currentTarget.value)}>
              {clients.map(({ username }) => (
                <option key={username} value={username}>
                  {username}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      <button type="submit" class="primary">
        {edited ? 'Save' : 'Register'}
      </button>
    </form>
  )
}
