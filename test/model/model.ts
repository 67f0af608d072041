import { type Product, type Rates, seededRates } from './goods.ts'
import { type Happening, happened } from './happenings.ts'
import { partOf } from './money.ts'

/**
 * The model of a sandbox: the specification and the contract once more, small enough to read in one sitting. It has
 * no database, no cache of its own and no clock: it is told the time. It knows nothing of src.
 */

const SECOND = 1_000
const DAY = 86_400_000
const ORDER_PROCESSING_AFTER = 2 * SECOND
const ORDER_DELIVERED_AFTER = 5 * SECOND
const PAYOUT_EXPIRES_AFTER = 7 * DAY
const KEY_KEPT = DAY
const FAILURE_WINDOW = 60 * SECOND
const FAILURES_MAX = 10

/** A time between an earliest and a latest one; both are the same while a clock stands still. */
export interface Span {
  lo: number
  hi: number
}

export type ClientName = 'sandbox' | 'limited'
export const CLIENT_IDS: Record<ClientName, number> = { sandbox: 1, limited: 2 }

export interface Wallet {
  id: number
  client: ClientName
  currency: string
  type: 'PREPAID' | 'POSTPAID'
  amount: bigint
  reserved: bigint
  creditLimit: bigint
  threshold: bigint | null
  isLow: boolean
}

export interface Beneficiary {
  id: string
  client: ClientName
  wire: Record<string, unknown>
  payouts: number
  total: bigint
  lastPayoutAt: number | null
}

export interface Order {
  id: number
  client: ClientName
  reference: string
  product: Product
  wallet: number
  quantity: number
  delivered: number
  paid: bigint
  placedAt: number
  status: 'PENDING' | 'PROCESSING' | 'DELIVERED' | 'PARTIALLY_DELIVERED' | 'FAILED' | 'CANCELLED'
  /** Its rest was refunded, or all of it. */
  givenUp: boolean
  /** All that was delivered was refunded. */
  refunded?: true
  /** One of its vouchers can no longer be decrypted. */
  damaged?: true
  dueAt: number | null
}

type PayoutStatus =
  | 'created'
  | 'queued'
  | 'processing'
  | 'settling'
  | 'action_required'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'expired'

export interface Payout {
  id: string
  client: ClientName
  reference: string
  email: string
  wallet: number
  currency: string
  amount: bigint
  paid: bigint
  paidAmount: bigint
  beneficiary: string | null
  /** The amount that its completion adds to the beneficiary's total, at the rate of its creation. */
  counted: bigint
  createdAt: number
  status: PayoutStatus
  submitted: boolean
  returned: boolean
  /** The time of the next step by the clock, and the time at which an unprocessed payout expires. */
  dueAt: number | null
}

/** A movement of a wallet, as a transaction shows it. */
export interface Movement {
  wallet: number
  client: ClientName
  amount: bigint
  source: 'order' | 'payout' | 'refund' | 'funding'
}

interface Login {
  client: ClientName
  /** The valid refresh token; older ones are dead. */
  refresh: string
  access: Set<string>
  refreshed: Set<string>
  revoked: boolean
}

interface KeptResponse {
  request: string
  status: number
  text: string
  at: Span
}

/** The terms that an operator has agreed with a client. */
export interface Terms {
  vouchers: boolean
  quantityMax: number | null
  /** Percentages by product. */
  discounts: Map<number, number>
}

/** The state of a world that a snapshot keeps. */
export interface State {
  clock: { offset: Span; frozenAt: number | null }
  pace: { payouts: 'auto' | 'manual'; orders: 'auto' | 'manual' }
  written: boolean
  wallets: Wallet[]
  taken: Map<number, number>
  beneficiaries: Beneficiary[]
  orders: Order[]
  payouts: Payout[]
  movements: Movement[]
  logins: Login[]
  keys: Map<string, KeptResponse>
  rates: Rates
  /** The changes of products, by their ids. */
  edits: Map<number, Partial<Product>>
  /** By client id. */
  clients: Map<number, Terms>
  happenings: Happening[]
  /** The latest time of a write in it. */
  present: number
}

interface Bucket {
  tokens: number
  refillMs: number
  /** In parts: a token is `refillMs` of them, and `tokens` flow in each millisecond. */
  level: Span
  at: Span
}

export interface World {
  name: string
  /** The first that was used; undefined until then. */
  password: string | undefined
  state: State
  buckets: Map<ClientName, Bucket[]>
  charges: Map<string, { text: string; payable: bigint; wire: Record<string, unknown>; wallet: number; at: Span }>
  failures: Map<string, Span[]>
}

/** An access token as the model remembers it. */
export interface Token {
  world: string
  client: ClientName
  access: string
  refresh: string
  accessExpiresAt: number
  refreshExpiresAt: number
}

export type Limits = readonly { tokens: number; refillMs: number }[] | undefined

export const DEFAULT = 'default'
const seededWallet = (id: number, client: ClientName, currency: string, amount: bigint): Wallet => ({
  id,
  client,
  currency,
  type: 'PREPAID',
  amount,
  reserved: 0n,
  creditLimit: 0n,
  threshold: null,
  isLow: false,
})

/** The initial data of a world (contract C2). */
const freshState = (): State => {
  const wallets = [
    seededWallet(1, 'sandbox', 'USD', 10_000_000n),
    seededWallet(2, 'sandbox', 'EUR', 10_000_000n),
    seededWallet(3, 'sandbox', 'INR', 500_000_000n),
    seededWallet(4, 'sandbox', 'JPY', 10_000_000n),
    seededWallet(5, 'limited', 'USD', 500n),
  ]
  return {
    clock: { offset: { lo: 0, hi: 0 }, frozenAt: null },
    pace: { payouts: 'auto', orders: 'auto' },
    written: false,
    wallets,
    taken: new Map(),
    beneficiaries: [],
    orders: [],
    payouts: [],
    movements: wallets.map(({ id, client, amount }) => ({ wallet: id, client, amount, source: 'funding' })),
    logins: [],
    keys: new Map(),
    rates: seededRates,
    edits: new Map(),
    clients: new Map([
      [1, { vouchers: true, quantityMax: null, discounts: new Map() }],
      [2, { vouchers: false, quantityMax: 10, discounts: new Map([[2, 6]]) }],
    ]),
    happenings: [],
    present: 0,
  }
}

/** True if the world has more than its initial data. */
const holdsRecords = (state: State): boolean => {
  const fresh = freshState()
  const lists = ['beneficiaries', 'orders', 'payouts', 'movements', 'happenings'] as const
  const isLonger = lists.some((list) => state[list].length > fresh[list].length)
  return isLonger || state.edits.size > 0
}

export const termsOf = ({ state }: World, client: ClientName): Terms => {
  const terms = state.clients.get(CLIENT_IDS[client])
  if (!terms) throw new Error(`the model has no client ${client}`)
  return terms
}

const worldWith = (name: string, password: string | undefined, state: State): World => ({
  name,
  password,
  state,
  buckets: new Map(),
  charges: new Map(),
  failures: new Map(),
})

export class Model {
  readonly worlds = new Map<string, World>()
  readonly snapshots = new Map<string, State>()
  /** Every token that was ever given out. */
  readonly tokens = new Map<string, Token>()
  /** The products on sale; an operator may have changed them since the start. */
  products: readonly Product[]

  constructor(
    private readonly catalog: readonly Product[],
    readonly limits: Limits,
    readonly chargeTtlMs: number,
  ) {
    this.products = catalog
    this.worlds.set(DEFAULT, worldWith(DEFAULT, undefined, freshState()))
  }

  world(name: string): World {
    const world = this.worlds.get(name)
    if (!world) throw new Error(`the model has no world ${name}`)
    return world
  }

  /** The products of a world, with its changes. */
  productsIn({ state }: World): Product[] {
    return this.products.map((product) => ({ ...product, ...state.edits.get(product.id) }))
  }

  product(world: World, id: number): Product | undefined {
    return this.productsIn(world).find((product) => product.id === id && product.active)
  }

  // Worlds (contract C15)

  /** Makes a world, or replaces one and keeps its password. */
  put(name: string, state: State = freshState()): World {
    if (name === DEFAULT) this.products = this.catalog
    const world = worldWith(name, this.worlds.get(name)?.password, structuredClone(state))
    this.worlds.set(name, world)
    return world
  }

  /** The process was restarted: its memory is lost, and without a folder all data too. */
  restart(keeps: boolean): void {
    this.products = this.catalog
    const kept = keeps ? [...this.worlds.values()] : []
    this.worlds.clear()
    if (!keeps) this.snapshots.clear()
    this.worlds.set(DEFAULT, worldWith(DEFAULT, undefined, freshState()))
    for (const { name, password, state } of kept) {
      state.written &&= holdsRecords(state)
      this.worlds.set(name, worldWith(name, password, state))
    }
  }

  // Sessions (contract C3)

  /** True if a password is right. The first password claims a world. */
  claims(world: World, client: ClientName, password: string): boolean {
    if (world.name === DEFAULT) return password === client
    world.password ??= password
    return world.password === password
  }

  /** True if one more wrong password is 429; undefined if the time is not known precisely enough. */
  tooManyFailures(world: World, username: string, now: Span): boolean | undefined {
    const times = world.failures.get(username) ?? []
    const surely = times.filter(({ lo }) => now.hi - lo < FAILURE_WINDOW).length
    const perhaps = times.filter(({ hi }) => now.lo - hi < FAILURE_WINDOW).length
    if (surely >= FAILURES_MAX) return true
    return perhaps >= FAILURES_MAX ? undefined : false
  }

  failed(world: World, username: string, now: Span): void {
    world.failures.set(username, [...(world.failures.get(username) ?? []), now])
  }

  loggedIn(token: Token): void {
    this.tokens.set(token.access, token)
    this.tokens.set(token.refresh, token)
    this.world(token.world).state.logins.push({
      client: token.client,
      refresh: token.refresh,
      access: new Set([token.access]),
      refreshed: new Set(),
      revoked: false,
    })
  }

  /** The session of an access token; undefined if the token is unknown or dead. */
  session(access: string | undefined, now: (world: World) => Span): { world: World; client: ClientName } | undefined {
    const token = access === undefined ? undefined : this.tokens.get(access)
    const world = token?.access === access ? this.worlds.get(token?.world ?? '') : undefined
    if (!token || !world || now(world).lo >= token.accessExpiresAt) return undefined
    const login = world.state.logins.find((each) => each.access.has(token.access))
    return login && !login.revoked ? { world, client: login.client } : undefined
  }

  /** The login that a refresh token belongs to, if it can still be used; using a dead token ends its login. */
  refresh(refresh: string, now: (world: World) => Span): Login | undefined {
    const token = this.tokens.get(refresh)
    const world = token?.refresh === refresh ? this.worlds.get(token?.world ?? '') : undefined
    if (!token || !world || now(world).lo >= token.refreshExpiresAt) return undefined
    const login = world.state.logins.find((each) => each.refresh === refresh || each.refreshed.has(refresh))
    if (!login || login.revoked) return undefined
    if (login.refresh === refresh) return login
    login.revoked = true
    return undefined
  }

  refreshed(login: Login, token: Token): void {
    this.tokens.set(token.access, token)
    this.tokens.set(token.refresh, token)
    login.refreshed.add(login.refresh)
    login.refresh = token.refresh
    login.access.add(token.access)
  }

  loggedOut(world: World, client: ClientName): void {
    for (const login of world.state.logins) if (login.client === client) login.revoked = true
  }

  // Limits (contract C6)

  /** The buckets of a client after their refill. */
  buckets(world: World, client: ClientName, now: Span): Bucket[] {
    const buckets =
      world.buckets.get(client) ??
      (this.limits ?? []).map(({ tokens, refillMs }) => ({
        tokens,
        refillMs,
        level: spanOf(tokens * refillMs),
        at: now,
      }))
    for (const bucket of buckets) {
      const full = bucket.tokens * bucket.refillMs
      const flowed = {
        lo: Math.max(0, now.lo - bucket.at.hi) * bucket.tokens,
        hi: Math.max(0, now.hi - bucket.at.lo) * bucket.tokens,
      }
      bucket.level = {
        lo: Math.min(full, bucket.level.lo + flowed.lo),
        hi: Math.min(full, bucket.level.hi + flowed.hi),
      }
      bucket.at = now
    }
    world.buckets.set(client, buckets)
    return buckets
  }

  // Money

  wallet(world: World, client: ClientName, id: number): Wallet | undefined {
    return world.state.wallets.find((wallet) => wallet.id === id && wallet.client === client)
  }

  /** The wallet that pays if none is named: the one in the currency, otherwise the default one (contract C9). */
  payingWallet(world: World, client: ClientName, currency: string): Wallet | undefined {
    const ownWallets = world.state.wallets.filter((wallet) => wallet.client === client)
    return ownWallets.find((wallet) => wallet.currency === currency) ?? ownWallets[0]
  }

  canPay = (wallet: Wallet, amount: bigint): boolean => wallet.amount - amount >= -wallet.creditLimit

  stockLeft(world: World, product: Product): number {
    return product.stock === null ? Number.POSITIVE_INFINITY : product.stock - (world.state.taken.get(product.id) ?? 0)
  }

  placed(world: World, order: Order): void {
    const { state } = world
    state.orders.push(order)
    state.written = true
    take(state, order.product, order.quantity)
    move(state, order.wallet, -order.paid, 'order')
    reserve(state, order.wallet, order.paid)
    happened(state, order.client, 'order.created')
    if (order.status !== 'DELIVERED') return
    settle(state, order)
    happened(state, order.client, 'order.delivered')
  }

  /** Vouchers are handed out; the last one ends the order. */
  deliver(world: World, order: Order, quantity: number): void {
    order.delivered = Math.min(order.quantity, order.delivered + quantity)
    order.dueAt = null
    order.status = 'PARTIALLY_DELIVERED'
    const isWhole = order.delivered === order.quantity
    if (isWhole) settle(world.state, order)
    happened(world.state, order.client, isWhole ? 'order.delivered' : 'order.partially_delivered')
  }

  /** Returns the price of undelivered vouchers to the wallet. */
  giveUp(world: World, order: Order, status: 'FAILED' | 'CANCELLED'): void {
    const { state } = world
    const undelivered = order.quantity - order.delivered
    reserve(state, order.wallet, -order.paid)
    const back = partOf(order.paid, undelivered, order.quantity)
    if (back > 0n) move(state, order.wallet, back, 'refund')
    take(state, order.product, -undelivered)
    order.status = order.delivered > 0 ? 'PARTIALLY_DELIVERED' : status
    if (order.status !== 'PARTIALLY_DELIVERED') happened(state, order.client, `order.${status.toLowerCase()}`)
    if (back > 0n) happened(state, order.client, 'order.refunded')
    order.givenUp = true
    order.dueAt = null
  }

  /** Returns the price of delivered vouchers to the wallet; the order keeps its status. */
  refund({ state }: World, order: Order): void {
    order.refunded = true
    const back = order.paid - partOf(order.paid, order.quantity - order.delivered, order.quantity)
    if (back === 0n) return
    move(state, order.wallet, back, 'refund')
    happened(state, order.client, 'order.refunded')
  }

  created(world: World, payout: Payout): void {
    const { state } = world
    state.payouts.push(payout)
    state.written = true
    move(state, payout.wallet, -payout.paid, 'payout')
    reserve(state, payout.wallet, payout.paid)
    happened(state, payout.client, 'payout.created')
    payout.dueAt = dueOf(state, payout, payout.createdAt)
  }

  canCancel = ({ status, submitted }: Payout): boolean =>
    ['created', 'queued', 'action_required'].includes(status) || (status === 'processing' && !submitted)

  /** A payout fails: amount and fees are refunded. */
  end(world: World, payout: Payout, status: 'failed' | 'cancelled' | 'expired'): void {
    reserve(world.state, payout.wallet, -payout.paid)
    move(world.state, payout.wallet, payout.paid, 'refund')
    payout.status = status
    payout.dueAt = null
    happened(world.state, payout.client, `payout.${status}`)
  }

  giveBack(world: World, payout: Payout): void {
    payout.returned = true
    move(world.state, payout.wallet, payout.paidAmount, 'refund')
    happened(world.state, payout.client, 'payout.returned')
  }

  /** Takes the next step of a payout; false in a final status. */
  step(world: World, payout: Payout, now: number): boolean {
    const { state } = world
    const next = {
      created: 'queued',
      queued: 'processing',
      settling: 'completed',
      action_required: 'settling',
    } as const
    if (payout.status === 'processing') {
      if (payout.submitted) payout.status = 'settling'
      happened(state, payout.client, payout.submitted ? 'payout.settling' : 'payout.submitted')
      payout.submitted = true
    } else if (payout.status in next) {
      payout.status = next[payout.status as keyof typeof next]
      if (payout.status === 'completed') this.#complete(world, payout, now)
      happened(state, payout.client, `payout.${payout.status}`)
    } else {
      return false
    }
    payout.dueAt = dueOf(state, payout, now)
    return true
  }

  #complete({ state }: World, payout: Payout, now: number): void {
    reserve(state, payout.wallet, -payout.paid)
    const saved = state.beneficiaries.find(({ id }) => id === payout.beneficiary)
    if (!saved) return
    saved.payouts += 1
    saved.total += payout.counted
    saved.lastPayoutAt = now
  }

  repace(world: World, now: number): void {
    const { state } = world
    for (const payout of state.payouts) payout.dueAt = dueOf(state, payout, now)
    for (const order of state.orders) {
      const after = order.status === 'PENDING' ? ORDER_PROCESSING_AFTER : ORDER_DELIVERED_AFTER
      const moves = state.pace.orders === 'auto' && (order.status === 'PENDING' || order.status === 'PROCESSING')
      order.dueAt = moves ? Math.max(order.placedAt + after, now) : null
    }
  }

  /** Does the due work of a world. */
  catchUp(world: World, now: number): void {
    const { state } = world
    for (;;) {
      const order = earliest(state.orders)
      const payout = earliest(state.payouts)
      const dueAt = Math.min(order?.dueAt ?? Number.POSITIVE_INFINITY, payout?.dueAt ?? Number.POSITIVE_INFINITY)
      if (dueAt > now) {
        state.present = now
        return
      }
      state.present = dueAt
      if (order?.dueAt === dueAt) this.#orderIsDue(world, order, dueAt)
      else if (payout) this.#payoutIsDue(world, payout, dueAt)
    }
  }

  #orderIsDue(world: World, order: Order, at: number): void {
    if (order.status === 'PENDING') {
      order.status = 'PROCESSING'
      happened(world.state, order.client, 'order.processing')
      order.dueAt = Math.max(order.placedAt + ORDER_DELIVERED_AFTER, at)
    } else {
      this.deliver(world, order, order.quantity)
    }
  }

  #payoutIsDue(world: World, payout: Payout, at: number): void {
    if (world.state.pace.payouts === 'manual') this.end(world, payout, 'expired')
    else this.step(world, payout, at)
  }

  /** The times after a moment at which the behaviour of a world changes. */
  turningPoints(world: World): number[] {
    const { state } = world
    const ends = ({ lo, hi }: Span, after: number) => [lo + after, hi + after]
    return [
      ...state.orders.flatMap(({ dueAt }) => dueAt ?? []),
      ...state.payouts.flatMap(({ dueAt }) => dueAt ?? []),
      ...[...state.keys.values()].flatMap(({ at }) => ends(at, KEY_KEPT)),
      ...[...world.charges.values()].flatMap(({ at }) => ends(at, this.chargeTtlMs)),
      ...[...this.tokens.values()]
        .filter((token) => token.world === world.name)
        .flatMap(({ accessExpiresAt, refreshExpiresAt }) => [accessExpiresAt, refreshExpiresAt]),
    ]
  }
}

/** True if a time can be this one. */
export const spanWithin = ({ lo, hi }: Span, time: number): boolean => lo <= time && time <= hi

export const spanOf = (time: number): Span => ({ lo: time, hi: time })

/** True if a response is still stored; undefined when the time is not known precisely enough. */
export const isKept = ({ at }: KeptResponse, now: Span): boolean | undefined => within(at, now, KEY_KEPT)

/** True if less than a time has passed since a moment. */
export const within = (at: Span, now: Span, time: number): boolean | undefined => {
  if (now.hi - at.lo < time) return true
  return now.lo - at.hi >= time ? false : undefined
}

const walletIn = (state: State, id: number): Wallet => {
  const wallet = state.wallets.find((each) => each.id === id)
  if (!wallet) throw new Error(`the model has no wallet ${id}`)
  return wallet
}

const move = (state: State, walletId: number, amount: bigint, source: Movement['source']): void => {
  const wallet = walletIn(state, walletId)
  wallet.amount += amount
  happened(state, wallet.client, amount < 0n ? 'wallet.debited' : 'wallet.credited')
  look(state, wallet)
  state.movements.push({ wallet: walletId, client: wallet.client, amount, source })
}
/** Publishes that a wallet is below its threshold, once until it has recovered. */
const look = (state: State, wallet: Wallet): void => {
  const isLow = wallet.threshold !== null && wallet.amount < wallet.threshold
  if (isLow && !wallet.isLow) happened(state, wallet.client, 'wallet.low')
  wallet.isLow = isLow
}

export const setThreshold = (state: State, wallet: Wallet, threshold: bigint | null): void => {
  wallet.threshold = threshold
  look(state, wallet)
}

export const fund = (state: State, walletId: number, amount: bigint): void => {
  state.written = true
  move(state, walletId, amount, 'funding')
}

const reserve = (state: State, walletId: number, amount: bigint): void => {
  walletIn(state, walletId).reserved += amount
}

const take = (state: State, product: Product, quantity: number): void => {
  if (product.stock !== null) state.taken.set(product.id, (state.taken.get(product.id) ?? 0) + quantity)
}

const settle = (state: State, order: Order): void => {
  reserve(state, order.wallet, -order.paid)
  order.delivered = order.quantity
  order.status = 'DELIVERED'
  order.dueAt = null
}

const STEP_AFTER = { created: 1, queued: 2, settling: 5 } as const

/** The time at which the clock moves a payout: the next step of the sandbox's pace, or its expiry. */
const dueOf = ({ pace }: State, { status, submitted, createdAt }: Payout, now: number): number | null => {
  if (pace.payouts === 'manual') {
    return status === 'created' || status === 'queued' ? createdAt + PAYOUT_EXPIRES_AFTER : null
  }
  const seconds = status === 'processing' ? (submitted ? 4 : 3) : STEP_AFTER[status as keyof typeof STEP_AFTER]
  return seconds === undefined ? null : Math.max(createdAt + seconds * SECOND, now)
}

const earliest = <Due extends { dueAt: number | null }>(all: readonly Due[]): Due | undefined =>
  all.reduce<Due | undefined>(
    (first, each) => (each.dueAt !== null && (first?.dueAt == null || each.dueAt < first.dueAt) ? each : first),
    undefined,
  )
