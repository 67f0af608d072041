import { visible } from '../../../kernel/visible.ts'
import { type LoggedRequest, recordedFrom } from '../../../sandbox/requests/request-log.ts'

const KEPT_MAX = 10
const CHARACTERS_MAX = 80
const ADVICE = 'scrip docs errors: what to do about each error\n'

/** The last requests of all worlds whose responses were a 4xx or a 5xx. */
export class FailedRequests {
  #last: LoggedRequest[] = []
  #count = 0

  add(logged: LoggedRequest): void {
    if (logged.request.response.status < 400) return
    this.#count += 1
    this.#last = [...this.#last, logged].slice(-KEPT_MAX)
  }

  /** A line for each, how many there were if these are not all, and where to read what to do. */
  get text(): string {
    if (this.#count === 0) return ''
    const lines = this.#last.map(lineOf)
    const isAll = this.#count === lines.length
    return (isAll ? '' : `the last ${lines.length} of ${this.#count} requests that failed:\n`) + lines.join('') + ADVICE
  }
}

/** An error that no operation documents has its code in place of a name. */
const lineOf = (logged: LoggedRequest): string => {
  const { at, world, method, path, fault, request_id, response, outcome, message } = recordedFrom(logged)
  const error = outcome ?? logged.request.failure?.code ?? fault ?? 'unknown'
  const named = `${response.status} ${error}${fault === null ? '' : ' (injected)'}`
  const said = message === null ? '' : `: ${shortened(message)}`
  return `${at} ${world} ${named}: ${method} ${shortened(path)} ${visible(request_id)}${said}\n`
}

const shortened = (text: string): string => {
  const shown = visible(text)
  return shown.length > CHARACTERS_MAX ? `${shown.slice(0, CHARACTERS_MAX)}…` : shown
}
