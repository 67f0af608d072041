import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { Body, HeaderList } from '../body.tsx'
import type { InboxMessage } from '../types.ts'
import { Card, clockTime, copy, visible } from '../ui.tsx'

interface Props {
  world: string
  messages: readonly InboxMessage[]
  onChange: (work: () => Promise<unknown>, done: string) => Promise<void>
}

/** What the inboxes of a world have received, the newest first, and what they respond with from now on. */
export const Inbox = ({ world, messages, onChange }: Props) => (
  <Card
    title="Inbox"
    aside={
      messages.length > 0 && (
        <button
          type="button"
          class="danger"
          onClick={() => onChange(() => ask('DELETE', '/inbox', { world }), 'The inboxes are empty')}
        >
          Empty
        </button>
      )
    }
  >
    <p class="soft">
      A receiver that keeps what it gets and responds as you tell it to. Register its URL as a webhook; any name makes
      an inbox.
    </p>
    <p class="line">
      <code class="mono">{inboxUrl(world)}</code>
      <button type="button" onClick={() => copy(inboxUrl(world), 'the URL')}>
        Copy URL
      </button>
    </p>
    <ReplyForm
      onSet={(name, status) =>
        onChange(
          () => ask('PUT', `/inbox/${encodeURIComponent(name)}`, { world, body: { status } }),
          `${name} responds with ${status}`,
        )
      }
    />
    <ul class="events tall">
      {messages.toReversed().map((message) => (
        <li key={message.id}>
          <details>
            <summary>
              <strong>{typeIn(message.body)}</strong> <span class="soft">{visible(message.name)}</span>
              <span class="soft mono at">{clockTime(message.received_at)}</span>
            </summary>
            <Body text={message.body} label={`Message ${message.id}`} />
            <HeaderList headers={message.headers} />
          </details>
        </li>
      ))}
    </ul>
  </Card>
)

const inboxUrl = (world: string): string => `${location.origin}/_sandbox/inbox/hooks?world=${world}`

const typeIn = (body: string): string => {
  try {
    const { type } = JSON.parse(body) as { type?: unknown }
    return typeof type === 'string' ? visible(type) : 'message'
  } catch {
    return 'message'
  }
}

/** What an inbox responds with from now on: how to see retries. */
const ReplyForm = ({ onSet }: { onSet: (name: string, status: number) => void }) => {
  const [name, setName] = useState('hooks')
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
      <select aria-label="Response status" value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
        {['200', '410', '500', '503'].map((each) => (
          <option key={each} value={each}>
            responds {each}
          </option>
        ))}
      </select>
      <button type="submit">Set</button>
    </form>
  )
}
