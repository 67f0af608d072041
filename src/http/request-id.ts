/** A short identifier that is safe in a header, a log line and a file name. */
const SANE = /^[\w.:-]{1,128}$/

/** A trace and the span that the request belongs to, neither of them all zeros (W3C Trace Context, 3.2). */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** The identifier that the client sent, if it is a safe one (contract C4). */
export const requestIdOf = (request: Request): string | undefined => {
  const sent = request.headers.get('x-request-id')
  return sent !== null && SANE.test(sent) ? sent : undefined
}

/** The header `traceparent` of a request, if it is a valid one. */
export const traceparentOf = (request: Request): string | undefined => {
  const sent = request.headers.get('traceparent')
  return sent !== null && TRACEPARENT.test(sent) ? sent : undefined
}
