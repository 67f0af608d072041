import { visible } from '../../../kernel/visible.ts'
import type { RecordedRequest } from '../../../sandbox/requests/operations.ts'
import { type LoggedRequest, recordedFrom } from '../../../sandbox/requests/request-log.ts'

const KEPT_MAX = 10
const PATH_CHARACTERS_MAX = 80

type Logged = Pick<LoggedRequest, 'world' | 'request' | 'id'>

/** A request whose response was a 4xx or a 5xx. */
export interface FailedRequest
  extends Pick<RecordedRequest, 'at' | 'world' | 'method' | 'path' | 'fault' | 'request_id'> {
  status: number
  /** The documented name, or the code of an error that no operation documents. */
  error: string
}

/** The last ones of all worlds. */
export class FailedRequests {
  readonly #last: Logged[] = []

  add(logged: Logged): void {
    if (logged.request.response.status < 400) return
    this.#last.push(logged)
    if (this.#last.length > KEPT_MAX) this.#last.shift()
  }

  get last(): FailedRequest[] {
    return this.#last.map((logged) => {
      const { at, world, method, path, fault, request_id, response, outcome } = recordedFrom(logged)
      const error = outcome ?? logged.request.failure?.code ?? fault ?? 'unknown'
      return { at, world, status: response.status, error, method, path: shortened(visible(path)), fault, request_id }
    })
  }
}

const shortened = (path: string): string =>
  path.length > PATH_CHARACTERS_MAX ? `${path.slice(0, PATH_CHARACTERS_MAX)}…` : path

const errorOf = ({ error, fault }: FailedRequest): string => (fault === null ? error : `${error} (injected)`)

export const lineOf = (failed: FailedRequest): string => {
  const { at, world, status, method, path, request_id } = failed
  return `${at} ${world} ${status} ${errorOf(failed)}: ${method} ${path} ${visible(request_id)}\n`
}
