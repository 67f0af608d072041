import type { operations } from './openapi.ts'
import { send } from './send.ts'

/** How the operations of `/_sandbox` are asked, typed by the OpenAPI document (generated as `openapi.ts`). */

type PathOf<Operation> = Operation extends { parameters: { path: infer Path } } ? { path: Path } : unknown
type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? { query?: NonNullable<Query> }
  : unknown
type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { body: Body }
  : Operation extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? { body?: Body }
    : unknown

/** What an operation takes: members of its path, its query and its body. */
export type ControlRequest<Id extends keyof operations> = PathOf<operations[Id]> &
  QueryOf<operations[Id]> &
  BodyOf<operations[Id]>

export type ControlBody<Id extends keyof operations> =
  ControlRequest<Id> extends { body?: infer Body } ? NonNullable<Body> : never

type SuccessOf<Responses> = Responses[Extract<keyof Responses, 200 | 201 | 202 | 204>]

/** The body of an operation's response; undefined if that is an empty body. */
export type ControlResponse<Id extends keyof operations> =
  SuccessOf<operations[Id]['responses']> extends { content: { 'application/json': infer Body } } ? Body : undefined

/** A request may be left out where nothing of it is required. */
export type Arguments<Id extends keyof operations> =
  Record<never, never> extends ControlRequest<Id> ? [request?: ControlRequest<Id>] : [request: ControlRequest<Id>]

interface AnyRequest {
  path?: Record<string, string | number>
  query?: Record<string, unknown>
  body?: unknown
}

/** Where the control API is, and which world it is asked about. */
export interface ControlOptions {
  url: string
  /** What `--sandbox-token` says, for a sandbox on another machine. */
  sandboxToken: string | undefined
  world: string | undefined
}

export type Ask = (
  method: string,
  template: string,
  takesWorld: boolean,
  request: AnyRequest | undefined,
) => Promise<unknown>

/** @throws ScripError */
export const askControl =
  ({ url, sandboxToken, world }: ControlOptions): Ask =>
  (method, template, takesWorld, request = {}) => {
    const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(request.path?.[name])))
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...(takesWorld && { world }), ...request.query })) {
      if (value !== undefined) query.set(name, String(value))
    }
    const headers = sandboxToken === undefined ? {} : { 'X-Sandbox-Token': sandboxToken }
    return send(`${url}${path}${query.size > 0 ? `?${query}` : ''}`, method, request.body, headers)
  }
