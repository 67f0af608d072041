import type { JsonObject } from './json.ts'
import type { Operation } from './operation.ts'
import { pathOf } from './target.ts'

/** A request in progress. It is made where the request enters, and holds all that its steps have found out. */
export class Incoming {
  /** The headers of its response so far. The status is that of the operation, if it is undefined. */
  readonly set: { status: number | undefined; headers: Record<string, string> } = { status: undefined, headers: {} }
  /** Without a matching route, it is empty, and the operation undefined. */
  route = ''
  operation: Operation | undefined = undefined
  /** As the route has read them; so are the query and the body. */
  params: unknown = undefined
  query: unknown = undefined
  body: unknown = undefined
  /** The session of its client, once the guard has let it in. */
  session: unknown = undefined
  /** The client whose turn a long body takes. */
  client: object | undefined = undefined
  /** The name in logs of the client of its token, or of the tokens that it gets. */
  username: string | null = null
  /** The text of its body: a second reading has the result of the first. */
  reading: Promise<string> | undefined = undefined
  /** The text of its body, once it is read. */
  text: string | undefined = undefined
  object: JsonObject | undefined = undefined
  /** Set while somebody is notified of requests. */
  arrival: { ms: number; address: string } | undefined = undefined
  /** The extension keeps what it knows of the request here. */
  observed: unknown = undefined

  constructor(readonly request: Request) {}

  get path(): string {
    return pathOf(this.request.url)
  }
}
