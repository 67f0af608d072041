/** A request that was let in while the end of its body is still on its way. */
export interface Held {
  /** Sends the rest and returns the response. */
  finish: () => Promise<Response>
}

/**
 * Sends the first half of a body, and waits until the server has let the request in: it has then taken a token of the
 * client's buckets. Each look takes a token itself, and none comes back while the test runs.
 */
export const holdBack = async (
  body: unknown,
  send: (body: ReadableStream<Uint8Array>) => Promise<Response>,
  look: () => Promise<Response>,
): Promise<Held> => {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const half = bytes.length >> 1
  const rest = Promise.withResolvers<void>()
  const tokensLeft = async () => Number((await look()).headers.get('x-ratelimit-remaining'))
  const before = await tokensLeft()
  const response = send(
    new ReadableStream({
      start: async (controller) => {
        controller.enqueue(bytes.slice(0, half))
        await rest.promise
        controller.enqueue(bytes.slice(half))
        controller.close()
      },
    }),
  )
  for (let looks = 1; (await tokensLeft()) === before - looks; looks++) await Bun.sleep(1)
  return {
    finish: () => {
      rest.resolve()
      return response
    },
  }
}
