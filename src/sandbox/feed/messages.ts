/** One message of GET /_sandbox/feed. */
export interface FeedMessage {
  /** Empty if the message has none. */
  id: string
  event: string
  /** Undefined for the first message of a feed. */
  data: unknown
}

/** Reads server-sent events (HTML Living Standard, 9.2) in groups, as they arrive together. */
export async function* messagesIn(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<FeedMessage[]> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const blocks = (text + next.value).split('\n\n')
    text = blocks.pop() ?? ''
    yield blocks.map((block) => {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)))
      const { id = '', event = 'message', data } = fields as Record<string, string | undefined>
      return { id, event, data: data === undefined ? undefined : JSON.parse(data) }
    })
  }
}
