import { useState } from 'preact/hooks'
import { Body, HeaderList } from '../../../../pages/ui/body.tsx'
import { Button, Form, Input, Select } from '../../../../pages/ui/forms.tsx'
import { act, copy } from '../../../../pages/ui/notices.tsx'
import { parsedOf } from '../../../../pages/ui/pieces.tsx'
import { ask } from '../api.ts'
import { Records } from '../records.tsx'
import type { InboxMessage } from '../types.ts'

/** The messages in the inboxes of a world, the newest first, and their next responses. */
export const Inbox = ({ world, messages }: { world: string; messages: readonly InboxMessage[] | undefined }) => {
  const empty = () => act(() => ask('DELETE', '/inbox', { world }), 'The inboxes are empty')
  return (
    <Records
      kind="message"
      title="Inbox"
      records={messages?.toReversed().map((message) => {
        const { id, body, name, received_at } = message
        return { message, row: { id, type: typeIn(body), inbox: name, received_at } }
      })}
      empty="No message yet."
      aside={messages && messages.length > 0 && <Button text="Empty" class="danger" onClick={empty} />}
      below={({ message: { id, body, headers } }) => (
        <details>
          <summary>Message</summary>
          <Body text={body} label={`Message ${id}`} />
          <HeaderList headers={headers} />
        </details>
      )}
    >
      <p class="soft">
        A receiver that keeps what it gets and responds as you tell it to. Register its URL as a webhook. Any name
        works: the inbox is created on first use.
      </p>
      <p class="line">
        <code>{inboxUrl(world)}</code>
        <Button text="Copy URL" onClick={() => copy(inboxUrl(world), 'the URL')} />
      </p>
      <ReplyForm world={world} />
    </Records>
  )
}

export const inboxUrl = (world: string): string => `${location.origin}/_sandbox/inbox/hooks?world=${world}`

const typeIn = (body: string): string => {
  const { type } = (parsedOf(body)?.value ?? {}) as { type?: unknown }
  return typeof type === 'string' ? type : 'message'
}

const STATUSES = ['200', '410', '500', '503'].map((status) => [status, `responds ${status}`] as const)

/** Sets the next responses of an inbox, which shows retries. */
const ReplyForm = ({ world }: { world: string }) => {
  const [name, setName] = useState('hooks')
  const [status, setStatus] = useState('200')
  const set = () => {
    const body = { status: Number(status) }
    const path = `/inbox/${encodeURIComponent(name)}`
    return act(() => ask('PUT', path, { world, body }), `${name} responds with ${status}`)
  }
  return (
    <Form class="line" onSubmit={set}>
      <Input aria-label="Name of the inbox" placeholder="Inbox" required value={name} onText={setName} />
      <Select aria-label="Response status" value={status} options={STATUSES} onChoose={setStatus} />
      <button type="submit">Set</button>
    </Form>
  )
}
