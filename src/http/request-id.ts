import type { Context } from 'elysia'

/** What a hook needs of a request: the request itself, and the answer's status and headers. */
export type RequestContext = Pick<Context, 'request' | 'set'>

/** A sane identifier: short, and nothing that could break a header, a log line or a file name. */
const SANE = /^[\w.:-]{1,128}$/

/** The caller's own request identifier, if it sent a sane one (contract C4). */
export const requestIdOf = (request: Request): string | undefined => {
  const sent = request.headers.get('x-request-id')
  return sent !== null && SANE.test(sent) ? sent : undefined
}
