import { ledgerFaults, responseFaults } from './checks.ts'
import { faultsIn, isPathId } from './expect.ts'
import type { Product } from './goods.ts'
import { type ClientName, type Model, type Span, spanOf, type Token, type Wallet, type World } from './model.ts'
import { majorOf } from './money.ts'
import type { Program } from './program.ts'

/** One run: it sends requests to a program and the model, and stops at the first response that the model did not predict. */

export interface ProgramResponse {
  /** 0 when the connection was closed without a response. */
  status: number
  headers: Headers
  text: string
  json: unknown
  /** The machine's time before and after. */
  real: Span
}

/** One request, by the name of its operation in the OpenAPI document. */
export interface Call {
  operation: string
  id?: string | number
  query?: string
  body?: unknown
  /** A body that is sent unchanged. */
  text?: string
  headers?: Record<string, string>
}

/** A rule for a response: its status, its error, and whatever else can be predicted. */
export interface Expected {
  status: number | readonly number[]
  body?: unknown
  /** Returns the problem with the response, if there is one. */
  fault?: (response: ProgramResponse) => string | undefined
}

/** The sender of a request: a client of a world, with its newest token or with an earlier one. */
export interface Who {
  world: string
  client: ClientName
  token?: 'oldest' | 'none' | 'garbage'
}

/** The values that a rule needs but cannot predict: the sender, the time, and the ids and times of the response. */
export interface At {
  model: Model
  world: World
  client: ClientName
  now: Span
  response: ProgramResponse
}
export type Rule = (at: At) => Expected
type Session = Pick<At, 'world' | 'client'>

/** The effect of a request on the rate limit: a token, none, or an unknown number when others are sent at the same time. */
export type Charging = 'charged' | 'free' | 'at once'

/** The program did what the model did not expect. */
export class Finding extends Error {
  override readonly name = 'Finding'
}

/** If a change is this near, the clock is stopped first, so that the time is certain: longer than any request takes. */
const NEAR_MS = 30_000
const LINE_LENGTH = 160

export class Play {
  /** The requests so far, one line each, for people. */
  readonly lines: string[] = []
  readonly #touched = new Set<string>()
  /** The number of movements that a world had when they were last read. */
  readonly #audited = new WeakMap<World, number>()
  readonly #tokens: Token[] = []
  #names = 0

  constructor(
    readonly program: Program,
    readonly model: Model,
  ) {}

  now(world: World, real: Span = spanOf(Date.now())): Span {
    const { frozenAt, offset } = world.state.clock
    return frozenAt === null ? { lo: real.lo + offset.lo, hi: real.hi + offset.hi } : spanOf(frozenAt)
  }

  /** A product of a world, with the world's changes. */
  productOf(name: string, id: number): Product | undefined {
    const world = this.model.worlds.get(name)
    return world && this.model.product(world, id)
  }

  /** A name that is unique in this run. */
  freshName(prefix: string): string {
    return `${prefix}-${++this.#names}`
  }

  remember(token: Token): void {
    this.#tokens.push(token)
  }

  /** The token of a sender: the newest valid one, if there is one. */
  tokenOf({ world, client, token }: Who): string | undefined {
    if (token === 'garbage') return 'a.b.c'
    if (token === 'none') return undefined
    const ownTokens = this.#tokens.filter((each) => each.world === world && each.client === client)
    if (token === 'oldest') return ownTokens[0]?.access
    return ownTokens.findLast(({ access }) => this.isAlive(access))?.access
  }

  refreshTokenOf({ world, client, token }: Who): Token | undefined {
    const ownTokens = this.#tokens.filter((each) => each.world === world && each.client === client)
    return token === 'oldest' ? ownTokens[0] : ownTokens.at(-1)
  }

  isAlive(access: string): boolean {
    return this.model.session(access, (world) => this.now(world)) !== undefined
  }

  // Asking

  /** Sends a request to the API; the rule applies if the HTTP layer admits it. */
  async api(who: Who, call: Call, rule: Rule): Promise<ProgramResponse> {
    await this.settle()
    const access = this.tokenOf(who)
    const response = await this.send(call, access)
    this.judge(call, access, response, rule)
    return response
  }

  /** Sends a request that needs no token: to the control API, a login, a probe. */
  async open(call: Call, rule: (response: ProgramResponse) => Expected): Promise<ProgramResponse> {
    await this.settle()
    const response = await this.send(call)
    this.compare(call, response, rule(response))
    return response
  }

  /** Sends a request to the control API about a world. */
  control(
    call: Call,
    name: string,
    rule: (world: World, response: ProgramResponse) => Expected,
  ): Promise<ProgramResponse> {
    const query = [call.query, `world=${name}`].filter(Boolean).join('&')
    this.#touched.add(name)
    return this.open({ ...call, query }, (response) => {
      const world = this.model.worlds.get(name)
      // Path, query and body are refused before a world is looked up (contracts C4 and C15).
      const mayBeInvalid = call.body || call.query || (call.id !== undefined && !isPathId(String(call.id)))
      return world ? rule(world, response) : { status: mayBeInvalid ? [400, 404] : 404 }
    })
  }

  /** Builds a request and sends it. */
  async send(call: Call, access?: string): Promise<ProgramResponse> {
    const { method, url } = this.locate(call)
    const headers = { ...call.headers, ...(access !== undefined && { authorization: `Bearer ${access}` }) }
    const body = bodyOf(call)
    const line = `${method} ${url}${body === undefined ? '' : ` ${short(body)}`}${headersLine(call.headers)}`
    this.lines.push(`${line}${this.#whoseLine(access)}`)
    const index = this.lines.length - 1
    const response = await this.program.ask(url, { method, headers, ...(body !== undefined && { body }) })
    this.lines[index] += ` -> ${response.status || 'no response'}`
    this.#checkAlways(call, response)
    return response
  }

  locate({ operation, id = '', query }: Call): { method: string; url: string } {
    const served = this.program.operation(operation)
    const path = served.path.replace(/\{\w+\}/, encodeURIComponent(String(id)))
    return { method: served.method, url: query ? `${path}?${query}` : path }
  }

  /** Compares a response with the model's prediction, the checks of the HTTP layer first (contract C4). */
  judge(
    call: Call,
    access: string | undefined,
    response: ProgramResponse,
    rule: Rule,
    charging: Charging = 'charged',
  ): void {
    const session = this.model.session(access, (world) => this.now(world, response.real))
    if (!session) this.compare(call, response, unauthorized(access))
    else this.compare(call, response, this.#behindEdge(session, response, rule, charging))
  }

  #behindEdge({ world, client }: Session, response: ProgramResponse, rule: Rule, charging: Charging): Expected {
    const now = this.now(world, response.real)
    this.#touched.add(world.name)
    const limited = this.#charge(world, client, now, response, charging)
    if (limited) return limited
    this.model.catchUp(world, now.lo)
    return rule({ model: this.model, world, client, now, response })
  }

  compare(call: Call, response: ProgramResponse, { status, body, fault }: Expected): void {
    const statuses = typeof status === 'number' ? [status] : status
    if (!statuses.includes(response.status)) {
      this.fail(
        `${call.operation}: expected ${statuses.map((each) => each || 'no response').join(' or ')}, got ${response.status} | ${short(response.text)}`,
      )
    }
    if (body !== undefined && !Bun.deepEquals(response.json, body)) {
      this.fail(`${call.operation}: expected ${differenceOf(body, response.json)}`)
    }
    const wrong = fault?.(response)
    if (wrong !== undefined) this.fail(`${call.operation}: ${wrong} | ${short(response.text)}`)
  }

  fail(problem: string): never {
    throw new Finding(problem)
  }

  /** Stops the clock of every world that is about to change by itself, so that its time is certain. */
  async settle(): Promise<void> {
    for (const world of this.model.worlds.values()) {
      if (world.state.clock.frozenAt !== null) continue
      const { lo } = this.now(world)
      const isNear = this.model.turningPoints(world).some((time) => lo < time && time < lo + NEAR_MS)
      if (isNear) await this.freeze(world)
    }
  }

  async freeze(world: World): Promise<void> {
    const response = await this.send({ operation: 'moveClock', query: `world=${world.name}`, body: { frozen: true } })
    this.compare({ operation: 'moveClock' }, response, { status: 200 })
    world.state.clock.frozenAt = Date.parse((response.json as { now: string }).now)
  }

  // The rules that hold after every step

  /** Compares the ledger of every changed world with the model's; at the end that of every world. */
  async audit(isLast = false): Promise<void> {
    const names = isLast ? [...this.model.worlds.keys()] : [...this.#touched]
    this.#touched.clear()
    for (const world of names.flatMap((name) => this.model.worlds.get(name) ?? [])) {
      const database = this.program.database(world.name)
      const wrong = database && ledgerFaults(database)
      if (wrong) this.fail(`the ledger of ${world.name} has ${wrong}`)
      if (this.model.limits !== undefined) continue
      const { length } = world.state.movements
      const hasMoved = isLast || this.#audited.get(world) !== length
      for (const client of ['sandbox', 'limited'] as const) await this.#auditClient(world, client, hasMoved)
      this.#audited.set(world, length)
    }
  }

  async #auditClient(world: World, client: ClientName, hasMoved: boolean): Promise<void> {
    const who = { world: world.name, client }
    await this.settle()
    const access = this.tokenOf(who)
    if (access === undefined) return
    const lineCount = this.lines.length
    const wallets = await this.send({ operation: 'listWallets', query: 'limit=10000&sort={"direction":"ASC"}' }, access)
    this.compare({ operation: 'audit' }, wallets, { status: 200 })
    this.model.catchUp(world, this.now(world, wallets.real).lo)
    const ownWallets = world.state.wallets.filter((wallet) => wallet.client === client)
    const expected = ownWallets.map(({ id, currency, amount, reserved }) => [
      id,
      majorOf(amount, currency),
      majorOf(reserved, currency),
    ])
    const real = (wallets.json as WalletWire[]).map(({ id, amount, reserved_amount }) => [id, amount, reserved_amount])
    if (!Bun.deepEquals(real, expected)) {
      this.fail(`wallets of ${client}@${world.name} are not as expected: ${differenceOf(expected, real)}`)
    }
    if (hasMoved) await this.#auditMovements(world, client, access, ownWallets)
    this.lines.length = lineCount
  }

  async #auditMovements(world: World, client: ClientName, access: string, wallets: readonly Wallet[]): Promise<void> {
    const movements = await this.send({ operation: 'listTransactions', query: 'limit=10000' }, access)
    this.compare({ operation: 'audit' }, movements, { status: 200 })
    const currencies = new Map(wallets.map(({ id, currency }) => [id, currency]))
    const signOf = ({ transaction_type }: MovementWire) => (transaction_type === 'DEBIT' ? '-' : '')
    const moved = (movements.json as MovementWire[])
      .map((each) => `${each.source_type} ${each.wallet_id} ${signOf(each)}${each.amount}`)
      .sort()
    const foretold = world.state.movements
      .filter((movement) => movement.client === client)
      .map(({ wallet, amount, source }) => `${source} ${wallet} ${majorOf(amount, currencies.get(wallet) ?? 'USD')}`)
      .sort()
    if (!Bun.deepEquals(moved, foretold)) {
      this.fail(`transactions of ${client}@${world.name} are not as expected: ${differenceOf(foretold, moved)}`)
    }
  }

  #checkAlways(call: Call, response: ProgramResponse): void {
    if (response.status === 0) return
    const wrong = responseFaults(this.program.operation(call.operation), response)
    if (wrong) this.fail(`${call.operation}: ${wrong} | ${short(response.text)}`)
  }

  /** Takes a token of each bucket, or returns the expected refusal. */
  #charge(
    world: World,
    client: ClientName,
    now: Span,
    response: ProgramResponse,
    charging: Charging,
  ): Expected | undefined {
    const header = (name: string) => response.headers.get(`x-ratelimit-${name}`)
    if (this.model.limits === undefined) {
      if (header('limit') !== null) this.fail('X-RateLimit-Limit without a limit')
      return undefined
    }
    const buckets = this.model.buckets(world, client, now)
    const mayRefuse = buckets.some(({ level, refillMs }) => level.lo < refillMs)
    const mustRefuse = buckets.some(({ level, refillMs }) => level.hi < refillMs)
    const isRefused = charging !== 'free' && (mustRefuse || (mayRefuse && response.status === 429))
    if (!isRefused && charging !== 'free') {
      for (const bucket of buckets) {
        bucket.level = { lo: Math.max(0, bucket.level.lo - bucket.refillMs), hi: bucket.level.hi - bucket.refillMs }
      }
    }
    if (charging !== 'at once' && response.status !== 0) {
      const fits = buckets.some(
        ({ tokens, refillMs, level }) =>
          header('limit') === String(tokens) &&
          Math.floor(level.lo / refillMs) <= Number(header('remaining')) &&
          Number(header('remaining')) <= Math.floor(level.hi / refillMs) &&
          buckets.every((other) => level.lo / refillMs <= other.level.hi / other.refillMs),
      )
      if (!fits) {
        const levels = buckets.map(({ tokens, refillMs, level }) => `${Math.floor(level.lo / refillMs)} of ${tokens}`)
        this.fail(`rate limit headers say ${header('remaining')} of ${header('limit')}, expected ${levels.join(', ')}`)
      }
    }
    return isRefused ? { status: 429, fault: tooManyFault } : undefined
  }

  #whoseLine(access: string | undefined): string {
    if (access === undefined) return ''
    const token = this.model.tokens.get(access)
    return token ? ` as ${token.client}@${token.world}` : ' with a token of nobody'
  }
}

interface WalletWire {
  id: number
  amount: number
  reserved_amount: number
}
interface MovementWire {
  wallet_id: number
  amount: number
  transaction_type: string
  source_type: string
}

/** True if a timestamp can be of this moment. */
export const isInSpan = ({ lo, hi }: Span, timestamp: string): boolean =>
  lo <= Date.parse(timestamp) && Date.parse(timestamp) <= hi

const unauthorized = (access: string | undefined): Expected => ({
  status: 401,
  fault: ({ headers }) => {
    const challenge = access === undefined ? 'Bearer' : 'Bearer error="invalid_token"'
    return faultsIn({ 'www-authenticate': [headers.get('www-authenticate'), challenge] })
  },
})

const tooManyFault = ({ headers, json }: ProgramResponse): string | undefined => {
  const seconds = headers.get('retry-after')
  const { message } = (json as { error: { message: string } }).error
  return message === `Rate limit exceeded. Retry after ${seconds} ${seconds === '1' ? 'second' : 'seconds'}.`
    ? undefined
    : 'not the words of a 429'
}

const bodyOf = ({ text, body }: Call): string | undefined =>
  text ?? (body === undefined ? undefined : JSON.stringify(body))

export const short = (text: string): string =>
  text.length <= LINE_LENGTH ? text : `${text.slice(0, LINE_LENGTH)}… (${text.length} characters)`

const headersLine = (headers: Record<string, string> | undefined): string =>
  Object.entries(headers ?? {})
    .map(([name, value]) => ` [${name}: ${short(value)}]`)
    .join('')

/** The first place where two values differ. */
const differenceOf = (expected: unknown, actual: unknown, at = ''): string => {
  if (isObject(expected) && isObject(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      if (!Bun.deepEquals(expected[name], actual[name]))
        return differenceOf(expected[name], actual[name], `${at}/${name}`)
    }
  }
  return `${short(JSON.stringify(expected) ?? 'nothing')}${at && ` at ${at}`}, was ${short(JSON.stringify(actual) ?? 'nothing')}`
}
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
