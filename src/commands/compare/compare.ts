import type { CompareConfig } from '../../config/config.ts'
import { renderFailure } from '../../http/errors.ts'
import type { ServedOperation } from '../../http/operation.ts'
import { EXIT, ProgramError } from '../exit.ts'
import { note, show } from '../output.ts'
import { type Difference, errorDifferences, headerDifferences, schemaDifferences } from './differences.ts'
import { type Answer, type Host, logInTo, sendTo } from './host.ts'
import { paced } from './pace.ts'
import { type Case, casesOf, type Lists } from './questions.ts'
import { startReference } from './reference.ts'

const COLUMNS = ['operation', 'request', 'field', 'expected', 'found'] as const
const FORBIDDEN = 403
const RATE_LIMIT_HEADER = /^header x-ratelimit-/

/** `scrip compare` (contract C15). @throws ProgramError if the host differs from Scrip, refuses or does not answer */
export const compare = async ({ url, format, ...credentials }: CompareConfig): Promise<void> => {
  const host = await logInTo(url, sendTo(url), credentials)
  const reference = await startReference()
  const ask = paced(host, (seconds) => note(`waiting ${seconds} s for the rate limit of the host`, format))
  const comparison = new Comparison(reference.host, { ...host, ask })
  for (const one of casesOf(reference.operations)) await comparison.make(one)
  reference.close()
  const { rows, omitted, answerCount } = comparison
  if (rows.length > 0 || format === 'json') await show({ columns: COLUMNS, rows }, format)
  for (const [what, why] of omitted) note(`not compared: ${what}: ${why}`, format)
  const verdict = `${rows.length || 'no'} differences in ${answerCount} answers`
  if (rows.length > 0) throw new ProgramError(EXIT.failed, verdict)
  note(verdict, format)
}

/** Asks Scrip and a host the same, and collects where they part. */
class Comparison {
  readonly rows: Record<(typeof COLUMNS)[number], string>[] = []
  /** Why something is not compared, by operation. */
  readonly omitted = new Map<string, string>()
  answerCount = 0
  readonly #lists: { expected: Lists; found: Lists } = { expected: new Map(), found: new Map() }
  #hasLimits: boolean | undefined

  constructor(
    private readonly reference: Host,
    private readonly host: Host,
  ) {}

  async make(one: Case): Promise<void> {
    const { served, questionOf } = one
    const [toScrip, toHost] = [questionOf(this.#lists.expected), questionOf(this.#lists.found)]
    if (!toScrip || !toHost) {
      this.#omit(served, 'the host has no record for it')
      return
    }
    const [expected, found] = [await this.reference.ask(toScrip), await this.host.ask(toHost)]
    this.answerCount += 1
    if (!toHost.isPublic) this.#hasLimits ??= found.headers.has('x-ratelimit-limit')
    if (isDisabled(served, expected, found)) {
      this.#omit(served, 'the client has not the feature')
      return
    }
    this.#add(one, differencesBetween(one, expected, found))
    if (one.about === '') this.#learn(served, expected, found)
  }

  #learn(served: ServedOperation, expected: Answer, found: Answer): void {
    if (Array.isArray(expected.body)) this.#lists.expected.set(served.route, expected.body)
    if (!Array.isArray(found.body)) return
    this.#lists.found.set(served.route, found.body)
    if (found.body.length === 0) this.#omit(served, 'the list is empty')
  }

  #omit({ method, route }: ServedOperation, why: string): void {
    this.omitted.set(`${method} ${route}`, why)
  }

  #add({ served, about }: Case, differences: readonly Difference[]): void {
    for (const difference of differences) {
      // A host whose limits are lifted sends none.
      if (this.#hasLimits === false && RATE_LIMIT_HEADER.test(difference.field)) continue
      this.rows.push({ operation: `${served.method} ${served.route}`, request: about || 'success', ...difference })
    }
  }
}

/** A client without a feature gets the documented 403. */
const isDisabled = ({ operation }: ServedOperation, expected: Answer, found: Answer): boolean =>
  found.status === FORBIDDEN &&
  expected.status !== FORBIDDEN &&
  Object.values(operation.errors).some((failure) => {
    const { status, body } = renderFailure(failure, operation)
    return status === FORBIDDEN && errorDifferences(body, found.body).length === 0
  })

const differencesBetween = ({ served, values }: Case, expected: Answer, found: Answer): Difference[] => {
  if (expected.status !== found.status) {
    return [{ field: 'status', expected: String(expected.status), found: String(found.status) }]
  }
  const { schema } = served.operation.success
  return [
    ...headerDifferences(expected.headers, found.headers),
    ...(expected.status < 400 && schema
      ? schemaDifferences(schema, found)
      : errorDifferences(expected.body, found.body, values)),
  ]
}
