import type { operations } from './openapi.ts'

/** Requests to the operations of `/_sandbox`, typed by the OpenAPI document (generated as `openapi.ts`). */

type PathOf<Operation> = Operation extends { parameters: { path: infer Path } } ? Path : unknown
type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? Partial<NonNullable<Query>>
  : unknown
type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? Body
  : Operation extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? Partial<Body>
    : unknown

/** The members of the path, the query and the body of an operation, in one object. */
export type ControlRequest<Id extends keyof operations> = PathOf<operations[Id]> &
  QueryOf<operations[Id]> &
  BodyOf<operations[Id]>

type SuccessOf<Responses> = Responses[Extract<keyof Responses, 200 | 201 | 202 | 204>]

/** The body of an operation's response; undefined if that is an empty body. */
export type ControlResponse<Id extends keyof operations> =
  SuccessOf<operations[Id]['responses']> extends { content: { 'application/json': infer Body } } ? Body : undefined

/** A request without required members may be left out. */
export type Arguments<Id extends keyof operations> =
  Record<never, never> extends ControlRequest<Id> ? [request?: ControlRequest<Id>] : [request: ControlRequest<Id>]

/** The address of the control API, and the world of the requests. */
export interface ControlOptions {
  url: string
  /** The value of `--sandbox-token`, for a sandbox on another machine. */
  sandboxToken: string | undefined
  world: string | undefined
}

/** @param names the members of the path, and of the query; the others are the body */
export type Ask = (method: string, template: string, names: Names, request: object | undefined) => Promise<unknown>

export interface Names {
  path: readonly string[]
  query: readonly string[]
}

/** @throws ScripError */
export const askControl =
  ({ url, sandboxToken, world }: ControlOptions): Ask =>
  (method, template, names, request = {}) => {
    const members = Object.entries(request).filter(([, value]) => value !== undefined)
    const inPath = new Map(members.filter(([name]) => names.path.includes(name)))
    const query = new URLSearchParams(world !== undefined && names.query.includes('world') ? { world } : {})
    for (const [name, value] of members) if (names.query.includes(name)) query.set(name, String(value))
    const rest = members.filter(([name]) => !names.path.includes(name) && !names.query.includes(name))
    const body = rest.length > 0 || method === 'POST' || method === 'PUT' ? Object.fromEntries(rest) : undefined
    const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(inPath.get(name))))
    const headers = sandboxToken === undefined ? {} : { 'X-Sandbox-Token': sandboxToken }
    return send(`${url}${path}${query.size > 0 ? `?${query}` : ''}`, method, body, headers)
  }

/** A refusal by Scrip, or a failure to start or end. */
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

/** True if a host can only mean this machine. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/

/** `fetch`, which asks no proxy for this machine under Bun either. Node ignores the member. */
export const fetchDirectly = (url: URL, init: RequestInit): Promise<Response> =>
  fetch(url, LOOPBACK.test(url.hostname) ? ({ ...init, proxy: false } as RequestInit) : init)

/** Sends JSON and returns the body of the response. @throws ScripError */
export const send = async (
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<unknown> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetchDirectly(new URL(url), { method, headers, ...sent })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const received = text === '' ? undefined : isJson ? JSON.parse(text) : text
  if (response.ok) return received
  throw new ScripError(`${method} ${new URL(url).pathname}: ${response.status} ${text}`, response.status, received)
}
