import { addressOf, tokenHeaders } from './api.ts'

/** One message of GET /_sandbox/feed. EventSource cannot send the token of the sandbox, so the stream is read by hand. */
export interface FeedMessage {
  event: string
  data: unknown
}

export type Connection = 'connecting' | 'live' | 'lost'

const RETRY_MS = 1_000

/** Follows the feed of a world until it is stopped, and resumes it when it breaks off. */
export const follow = (
  world: string,
  onMessages: (messages: FeedMessage[]) => void,
  onConnection: (connection: Connection) => void,
): (() => void) => {
  const stopped = new AbortController()
  let lastId = ''
  const read = async (): Promise<void> => {
    const headers = { ...tokenHeaders(), ...(lastId !== '' && { 'last-event-id': lastId }) }
    const response = await fetch(addressOf('/feed', { world }), { headers, signal: stopped.signal })
    if (!response.ok || !response.body) throw new Error(`${response.status}`)
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      onConnection('live')
      const blocks = (text + next.value).split('\n\n')
      text = blocks.pop() ?? ''
      const messages: FeedMessage[] = []
      for (const block of blocks) {
        const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)))
        if (fields.id) lastId = fields.id
        if (fields.data) messages.push({ event: fields.event ?? 'message', data: JSON.parse(fields.data) })
      }
      if (messages.length > 0) onMessages(messages)
    }
  }
  const run = async (): Promise<void> => {
    onConnection('connecting')
    while (!stopped.signal.aborted) {
      await read().catch(() => undefined)
      if (stopped.signal.aborted) return
      onConnection('lost')
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
  void run()
  return () => stopped.abort()
}
