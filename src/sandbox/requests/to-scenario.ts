import { isObject } from '../../http/json.ts'
import { DomainError } from '../../kernel/failure.ts'
import { jsonIn } from '../../kernel/json.ts'
import type { World } from '../../work/world.ts'
import { unrepeatable } from '../errors.ts'
import { SCENARIO_BYTES_MAX, type ScenarioStep, STEPS_MAX } from '../scenario/scenario.ts'
import { isAccount, SANDBOX_USERNAME } from '../seed/accounts.ts'
import type { RecordedRequest } from './contract.ts'
import { isCut, REDACTED } from './redaction.ts'
import { type LoggedRequest, requestLog } from './request-log.ts'
import type { RowChange } from './row-changes.ts'

/** The scenario that makes the records of a session again (contract C15): the requests that wrote, and the moves of the clock. */

interface Scenario {
  steps: ScenarioStep[]
}

/** The ids that differ between two runs, as a response and a later request have them. */
const ID = /\b(?:ben|pyt|whk)_[0-9a-z]+\b/g
const METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE'] satisfies ScenarioStep['method'][]
const KINDS: Record<string, { noun: string; table: string }> = {
  ben: { noun: 'beneficiary', table: 'beneficiaries' },
  pyt: { noun: 'payout', table: 'payouts' },
  whk: { noun: 'webhook', table: 'webhooks' },
}

const kindOf = (id: string) => KINDS[id.slice(0, 3)]

const idsMadeBy = (changes: readonly RowChange[]): string[] =>
  changes
    .filter(({ operation }) => operation === 'insert')
    .flatMap(({ table, key, values }) =>
      Array.from(`${key} ${values.after}`.matchAll(ID), ([id]) => id).filter((id) => kindOf(id)?.table === table),
    )

/** @throws DomainError unrepeatable, which names the request that cannot be a step */
export const toScenario = (world: World, newestFirst: readonly LoggedRequest[]): Scenario => {
  const log = world.of(requestLog)
  const missing = log.missingBeginning
  if (missing !== undefined) throw new DomainError(unrepeatable(missing))
  const session = new Session(world)
  const moves = [...log.moves]
  for (const logged of newestFirst.toReversed()) {
    while (moves[0] && moves[0].after < logged.id) session.add({ ...CLOCK, body: moves.shift()?.body })
    if (logged.changes.length > 0 && METHODS.includes(logged.method)) session.addRequest(logged)
  }
  for (const { body } of moves) session.add({ ...CLOCK, body })
  return { steps: session.steps.map(({ name, ...step }) => (name === undefined ? step : { name, ...step })) }
}

const CLOCK = { method: 'POST', path: '/_sandbox/clock' } as const

/** The steps so far, and where their responses have ids that a later request can carry. */
class Session {
  readonly steps: ScenarioStep[] = []
  #bytes = 0
  readonly #members = new Map<string, { step: ScenarioStep; name: string; member: string }>()

  constructor(private readonly world: World) {}

  add(step: ScenarioStep, requestId?: number): void {
    this.steps.push(step)
    this.#bytes += JSON.stringify(step).length
    if (this.steps.length <= STEPS_MAX && this.#bytes <= SCENARIO_BYTES_MAX) return
    const which = requestId === undefined ? 'a move of the clock' : `request ${requestId}`
    throw new DomainError(
      unrepeatable(
        `${which} is too much for a scenario, which has at most ${STEPS_MAX} steps and 1 MiB. Filter the list`,
      ),
    )
  }

  addRequest({ id, read, changes }: LoggedRequest): void {
    const recorded = read()
    if (recorded.dry_run) return
    const { method, path, request, response, fault } = recorded
    requireWhole(recorded)
    const isSuccess = response.status >= 200 && response.status < 300
    const key = request.headers['idempotency-key']
    const body = request.body === null ? undefined : (jsonIn(request.body) ?? request.body)
    const step: ScenarioStep = {
      ...this.#sender(recorded),
      method: method as ScenarioStep['method'],
      path: this.#referring(path),
      ...(key !== undefined && { headers: { 'Idempotency-Key': this.#referring(key) } }),
      ...(body !== undefined && { body: this.#within(body) }),
      // A response that a fault has taken away comes when the request is repeated.
      ...(!isSuccess && fault === null && { expect: response.status }),
    }
    this.add(step, id)
    const isKnown = isSuccess && response.body !== null && !isCut(response.body)
    if (isKnown) this.#remember(step, id, jsonIn(response.body ?? ''), [])
    // The client has found the id of a lost response elsewhere.
    else for (const made of idsMadeBy(changes)) this.#know(made, step, id, 'id')
  }

  /** The client, by the name that it has in every world. @throws DomainError unrepeatable */
  #sender({ id, client }: RecordedRequest): Pick<ScenarioStep, 'as'> {
    const prefix = `sbx_${this.world.name}`
    const as = client === prefix ? SANDBOX_USERNAME : (client ?? SANDBOX_USERNAME).replace(`${prefix}.`, '')
    if (as === SANDBOX_USERNAME) return {}
    if (isAccount(as)) return { as }
    throw new DomainError(unrepeatable(`request ${id} is of the client ${as}, which a fresh world does not have`))
  }

  #remember(step: ScenarioStep, requestId: number, value: unknown, members: readonly string[]): void {
    if (typeof value === 'string' && new RegExp(`^${ID.source}$`).test(value))
      this.#know(value, step, requestId, members.join('.'))
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) this.#remember(step, requestId, member, [...members, name])
  }

  /** The first response that has an id stands for it. */
  #know(id: string, step: ScenarioStep, requestId: number, member: string): void {
    const name = `${kindOf(id)?.noun}-${requestId}`
    if (!this.#members.has(id)) this.#members.set(id, { step, name, member })
  }

  #within(value: unknown): unknown {
    if (typeof value === 'string') return this.#referring(value)
    if (Array.isArray(value)) return value.map((item) => this.#within(item))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#within(member)]))
  }

  #referring(text: string): string {
    return text.replaceAll('{{', '{{{{').replace(ID, (id) => {
      const known = this.#members.get(id)
      if (!known) return id
      const { step, name, member } = known
      step.name = name
      return `{{${name}.${member}}}`
    })
  }
}

/** @throws DomainError unrepeatable */
const requireWhole = ({ id, path, request }: RecordedRequest): void => {
  const body = request.body ?? ''
  if (isCut(body)) throw new DomainError(unrepeatable(`the log has only a part of the body of request ${id}`))
  if (body.includes(REDACTED) || path.includes(REDACTED))
    throw new DomainError(unrepeatable(`request ${id} has a secret, which the log does not keep`))
}
