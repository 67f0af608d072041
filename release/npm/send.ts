/** What Scrip refused, or why it did not start or end well. */
export class ScripError extends Error {
  override readonly name = 'ScripError'

  constructor(
    message: string,
    /** The status of the response, if there was one. */
    readonly status?: number,
    /** The body of the response: parsed, if it was JSON. */
    readonly body?: unknown,
  ) {
    super(message)
  }
}

/** Sends JSON and returns what the response holds. @throws ScripError */
export const send = async (
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<unknown> => {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const received = text === '' ? undefined : isJson ? JSON.parse(text) : text
  if (response.ok) return received
  throw new ScripError(`${method} ${new URL(url).pathname}: ${response.status} ${text}`, response.status, received)
}
