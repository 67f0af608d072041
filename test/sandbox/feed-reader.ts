import { expect } from 'bun:test'
import type { Server } from '../harness.ts'

/** A message of the feed. */
export interface Message {
  id: string
  event: string
  data: Record<string, unknown> & { world: string; id: number | string }
}

/** Reads server-sent events (HTML Living Standard, 9.2), as far as the feed needs it. */
export class FeedReader {
  #text = ''
  /** The id of the last message, also of one without data. */
  lastId = ''

  private constructor(private readonly reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>) {}

  static async open(
    server: Pick<Server, 'request'>,
    query = '',
    headers: Record<string, string> = {},
  ): Promise<FeedReader> {
    const response = await server.request(`/_sandbox/feed${query}`, { headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    if (!response.body) throw new Error('a feed without a body')
    const feed = new FeedReader(response.body.getReader())
    await feed.#block()
    return feed
  }

  /** The next message; undefined once the feed has ended. */
  async next(): Promise<Message | undefined> {
    for (;;) {
      const block = await this.#block()
      if (block === undefined) return undefined
      const message = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)))
      if (message.data !== undefined) return { ...message, data: JSON.parse(message.data) }
    }
  }

  async take(count: number): Promise<Message[]> {
    const messages: Message[] = []
    while (messages.length < count) {
      const message = await this.next()
      if (!message) throw new Error(`the feed ended after ${messages.length} messages`)
      messages.push(message)
    }
    return messages
  }

  /** Everything until the feed ends. */
  async rest(): Promise<Message[]> {
    const messages: Message[] = []
    for (let message = await this.next(); message; message = await this.next()) messages.push(message)
    return messages
  }

  close(): Promise<void> {
    return this.reader.cancel()
  }

  async #block(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end !== -1) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        this.lastId = /^id: (.*)$/m.exec(block)?.[1] ?? this.lastId
        return block
      }
      const { value, done } = await this.reader.read()
      if (done) return undefined
      this.#text += Buffer.from(value).toString()
    }
  }
}
