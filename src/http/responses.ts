/** The content type of every response but documents and pictures. */
export const JSON_TYPE = 'application/json'

/** The bodies of responses as they were before compression, for the observers of requests. */
const bodies = new WeakMap<Response, string | Uint8Array>()

/** Remembers the body of a response. */
export const withBody = (response: Response, body: string | Uint8Array): Response => {
  bodies.set(response, body)
  return response
}

export const bodyOf = (response: Response): string | Uint8Array | undefined => bodies.get(response)

/** A response of JSON that is already written. */
export const jsonResponse = (json: string, { status = 200 }: { status?: number } = {}): Response =>
  withBody(new Response(json, { status, headers: { 'content-type': JSON_TYPE } }), json)

export const textResponse = (text: string): Response =>
  withBody(new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } }), text)
