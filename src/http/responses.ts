/** The content type of every response but documents and pictures. */
export const JSON_TYPE = 'application/json'

/** The bodies of responses before compression, for observers. */
const bodies = new WeakMap<Response, string | Uint8Array>()

export const withBody = (response: Response, body: string | Uint8Array): Response => {
  bodies.set(response, body)
  return response
}

export const bodyOf = (response: Response): string | Uint8Array | undefined => bodies.get(response)

/** A response of serialized JSON. */
export const jsonResponse = (json: string): Response => textResponse(json, JSON_TYPE)

export const textResponse = (text: string, type = 'text/plain; charset=utf-8'): Response =>
  withBody(new Response(text, { headers: { 'content-type': type } }), text)
