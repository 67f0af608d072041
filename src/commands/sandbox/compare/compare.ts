import type { CompareConfig } from '../../../config/config.ts'
import { renderFailure } from '../../../http/errors.ts'
import type { ServedOperation } from '../../../http/operation.ts'
import { SECOND_MS } from '../../../kernel/clock.ts'
import { counted } from '../../../kernel/counted.ts'
import { ProgramError, refused } from '../../../kernel/exit.ts'
import { note, show } from '../../terminal/output.ts'
import { fetchDirectly, type Host, logIn, type Reply } from '../http-client.ts'
import { type Difference, errorDifferences, headerDifferences, schemaDifferences } from './differences.ts'
import { paced } from './pace.ts'
import { type Case, casesOf, type Lists } from './questions.ts'
import { startReference } from './reference.ts'

const COLUMNS = ['operation', 'request', 'field', 'expected', 'found'] as const
const FORBIDDEN = 403
const LOGIN = '/auth/login'
const RATE_LIMIT_HEADER = /^header x-ratelimit-/

/** `scrip compare` (contract C15). @throws ProgramError if the host differs from Scrip, refuses or does not answer */
export const compare = async ({ url, format, ...credentials }: CompareConfig): Promise<void> => {
  const host = await logIn({ url, send: overNetwork, advice: 'Check the URL.' }, credentials)
  const reference = await startReference()
  const ask = paced(host, (seconds) => note(`waiting ${seconds} s for the rate limit of the host`, format))
  const comparison = new Comparison(reference.host, { ...host, ask })
  const cases = casesOf(reference.operations)
  const stopped = await comparison.makeAll(cases, { expected: reference.host.login, found: host.login })
  reference.close()
  const { rows, omitted, responseCount } = comparison
  if (rows.length > 0 || format === 'json') await show({ columns: COLUMNS, rows }, format)
  for (const [what, why] of omitted) note(`not compared: ${what}: ${why}`, format)
  const verdict = `${rows.length === 0 ? 'no differences' : counted(rows.length, 'difference')} in ${counted(responseCount, 'response')}`
  if (stopped !== undefined) throw refused(`${verdict}, then ${stopped}`)
  if (rows.length > 0) throw refused(verdict)
  note(verdict, format)
}

const RESPONSE_MS_MAX = 30 * SECOND_MS

const overNetwork = (request: Request): Promise<Response> =>
  fetchDirectly(new Request(request, { redirect: 'manual', signal: AbortSignal.timeout(RESPONSE_MS_MAX) }))

/** Sends the same requests to Scrip and to a host, and collects the differences. */
class Comparison {
  readonly rows: Record<(typeof COLUMNS)[number], string>[] = []
  /** The reason why an operation is not compared. */
  readonly omitted = new Map<string, string>()
  responseCount = 0
  readonly #lists: { expected: Lists; found: Lists } = { expected: new Map(), found: new Map() }
  #hasLimits: boolean | undefined

  constructor(
    private readonly reference: Host,
    private readonly host: Host,
  ) {}

  /** Compares logins, then everything else. Returns why it stopped early: a host may refuse, or stop responding. */
  async makeAll(cases: readonly Case[], { expected, found }: Logins): Promise<string | undefined> {
    const login = cases.find(({ served }) => served.route === LOGIN)
    if (login) {
      const success = { ...login, about: '' }
      this.responseCount += 1
      this.#add(success, differencesBetween(success, expected, found))
    }
    for (const one of cases) {
      try {
        await this.#make(one)
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error
        return `${one.served.method} ${one.served.route}: ${error.message}`
      }
    }
    return undefined
  }

  async #make(one: Case): Promise<void> {
    const { served, questionOf } = one
    const [toScrip, toHost] = [questionOf(this.#lists.expected), questionOf(this.#lists.found)]
    if (!toScrip || !toHost) {
      this.#omit(served, 'the host has no record for it')
      return
    }
    const [expected, found] = [await this.reference.ask(toScrip), await this.host.ask(toHost)]
    this.responseCount += 1
    if (!toHost.isPublic) this.#hasLimits ??= found.headers.has('x-ratelimit-limit')
    if (isDisabled(served, expected, found)) {
      this.#omit(served, 'the client does not have the feature')
      return
    }
    this.#add(one, differencesBetween(one, expected, found))
    if (one.about === '') this.#learn(served, expected, found)
  }

  #learn(served: ServedOperation, expected: Reply, found: Reply): void {
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
      // A host without rate limits sends none.
      if (this.#hasLimits === false && RATE_LIMIT_HEADER.test(difference.field)) continue
      this.rows.push({ operation: `${served.method} ${served.route}`, request: about || 'success', ...difference })
    }
  }
}

interface Logins {
  expected: Reply
  found: Reply
}

/** A client without a feature gets the documented 403. */
const isDisabled = ({ operation }: ServedOperation, expected: Reply, found: Reply): boolean =>
  found.status === FORBIDDEN &&
  expected.status !== FORBIDDEN &&
  Object.values(operation.refuses).some((failure) => {
    const { status, body } = renderFailure(failure, operation)
    return status === FORBIDDEN && errorDifferences(body, found.body).length === 0
  })

const differencesBetween = ({ served, values }: Case, expected: Reply, found: Reply): Difference[] => {
  if (expected.status !== found.status) {
    return [{ field: 'status', expected: String(expected.status), found: String(found.status) }]
  }
  const { schema } = served.operation.response
  return [
    ...headerDifferences(expected.headers, found.headers),
    ...(expected.status < 400 && schema
      ? schemaDifferences(schema, found)
      : errorDifferences(expected.body, found.body, values)),
  ]
}
