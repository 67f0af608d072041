import type { Context } from 'elysia'

/** The request, and the status and headers of its response. */
export type RequestContext = Pick<Context, 'request' | 'set'>

/** Short, and safe in a header, a log line and a file name. */
const SANE = /^[\w.:-]{1,128}$/

/** The identifier that the client sent, if it is a safe one (contract C4). */
export const requestIdOf = (request: Request): string | undefined => {
  const sent = request.headers.get('x-request-id')
  return sent !== null && SANE.test(sent) ? sent : undefined
}
