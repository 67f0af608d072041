import { type FeedMessage, messagesIn } from '../../feed/messages.ts'
import { addressOf, tokenHeaders } from './api.ts'

/** EventSource cannot send the token of the sandbox, so the stream is read by hand. */

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
    for await (const messages of messagesIn(response.body)) {
      onConnection('live')
      lastId = messages.findLast(({ id }) => id !== '')?.id ?? lastId
      const news = messages.filter(({ data }) => data !== undefined)
      if (news.length > 0) onMessages(news)
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
