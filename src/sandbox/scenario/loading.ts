import type { Product } from '../../catalog/product.ts'
import type { BaseRates, RateSource } from '../../charges/rates.ts'
import type { Tx } from '../../db/database.ts'
import { parseTimestamp } from '../../kernel/clock.ts'
import { DomainError } from '../../kernel/failure.ts'
import type { IdSource } from '../../kernel/ids.ts'
import { toMinor } from '../../kernel/money.ts'
import { problemList } from '../../kernel/problems.ts'
import type { SealSource } from '../../orders/voucher-key.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import type { Wallet } from '../../wallets/queries.ts'
import { SANDBOX_USERNAME, SEEDED_AT_MS } from '../seed/accounts.ts'
import { parseDuration } from '../worlds/movable-clock.ts'
import type { Pace } from '../worlds/pace.ts'

/** What is wrong with a document, and where: `/orders/2/product_id`. */
export interface Problem {
  path: string
  what: string
  /** Its line in the text of the document, if it is known. */
  line?: number
}

/** The number of problems that are listed. */
export const PROBLEMS_MAX = 1_000
/** A code takes some 10 µs to make, and 200 bytes. */
const VOUCHERS_MAX = 200_000

export class ScenarioFault extends Error {
  override readonly name = 'ScenarioFault'

  constructor(readonly problems: readonly Problem[]) {
    const listed = problems.map(
      ({ path, what, line }) => `${line === undefined ? '' : `line ${line}, `}${path || '/'}: ${what}`,
    )
    super(problemList('the scenario has', listed))
  }
}

/** The sources that a document is loaded with. */
export interface ScenarioSources {
  reference: Reference
  /** The image of a database without clients. */
  empty: () => Uint8Array
  /** Products of the catalog, on sale or not. */
  productsOf: (ids: readonly number[]) => Product[]
  initialRates: () => BaseRates | undefined
  seals: SealSource
  conversionBasisPoints: number
  payoutFeeBasisPoints: number
}

/** A step of the past: its effect on the ledger, and its record. */
interface Movement {
  atMs: number
  at: Place
  apply: (tx: Tx) => void
}

interface LoadedWallet {
  wallet: Wallet
  currency: Currency
  /** The final amount, and what the past adds to it. */
  amountMinor: number
  pastMinor: number
}

/** The state while a document is loaded. */
export class Loading {
  readonly clientIds = new Map<string, number>()
  /** Agreed with a client, in basis points by product. */
  readonly discounts = new Map<number, ReadonlyMap<number, number>>()
  readonly wallets = new Map<number, LoadedWallet>()
  readonly products = new Map<number, Product>()
  /** How many cards of a product orders have taken. */
  readonly taken = new Map<number, number>()
  readonly names = new Set<string>()
  readonly problems: Problem[] = []
  voucherCount = 0
  readonly #movements: Movement[] = []

  constructor(
    readonly sources: ScenarioSources,
    readonly nowMs: number,
    readonly ids: IdSource,
    readonly pace: Record<'payouts' | 'orders', Pace>,
    readonly rates: RateSource,
  ) {}

  at(path: string): Place {
    return new Place(this, path)
  }

  /** @throws ScenarioFault if anything is wrong */
  check(): void {
    if (this.problems.length > 0) throw new ScenarioFault(this.problems)
  }

  /** Counts cards of a product that an order takes. */
  take(productId: number, quantity: number): void {
    this.taken.set(productId, (this.taken.get(productId) ?? 0) + quantity)
  }

  happened(movement: Movement): void {
    this.#movements.push(movement)
  }

  /** In the order of time; at the same time in the order of the document. */
  get movements(): readonly Movement[] {
    return this.#movements.toSorted((a, b) => a.atMs - b.atMs)
  }
}

/** A value of the document by its path. Problems of its members are reported to the loading. */
export class Place {
  constructor(
    readonly loading: Loading,
    readonly path: string,
  ) {}

  in(member: string | number): Place {
    return new Place(this.loading, `${this.path}/${member}`)
  }

  /** What is wrong with a member, or with the value itself. */
  wrong(member: string, what: string): void {
    const { problems } = this.loading
    const path = member === '' ? this.path : `${this.path}/${member}`
    if (problems.length < PROBLEMS_MAX) problems.push({ path, what })
  }

  check(holds: boolean, member: string, what: string): void {
    if (!holds) this.wrong(member, what)
  }

  /** Runs a function that refuses with failures, and turns them into problems. Undefined if there are any. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const { violations, message } = error.failure
      for (const { field, problem } of violations ?? []) this.wrong(field, problem)
      if (!violations) this.wrong('', message)
      return undefined
    }
  }

  /** Whether no earlier record of this kind has this name. */
  isNew(member: string, records: string, name: string | number | undefined): boolean {
    if (name === undefined) return true
    const { names } = this.loading
    const isTaken = names.has(`${records} ${name}`)
    if (isTaken) this.wrong(member, `${name} is taken by an earlier record`)
    names.add(`${records} ${name}`)
    return !isTaken
  }

  clientOf(name: string = SANDBOX_USERNAME): number | undefined {
    const id = this.loading.clientIds.get(name)
    if (id === undefined) this.wrong('client', `no client is called ${name}`)
    return id
  }

  /** The named wallet, otherwise the one that would pay (contract C9). */
  walletOf(clientId: number, id: number | undefined, currencyId: number): LoadedWallet | undefined {
    const own = [...this.loading.wallets.values()].filter(({ wallet }) => wallet.clientId === clientId)
    const found =
      id === undefined
        ? (own.find(({ wallet }) => wallet.currencyId === currencyId) ?? own.find(({ wallet }) => wallet.isDefault))
        : own.find(({ wallet }) => wallet.id === id)
    const problem = id === undefined ? 'the client has no wallet' : `no wallet of it has the id ${id}`
    if (!found) this.wrong('wallet_id', problem)
    return found
  }

  /** A client or wallet can be younger than its world, whose clock went back before anything was written. */
  accountTimeOf(text: string | undefined): number {
    const { nowMs } = this.loading
    return this.timeOf('created_at', text, Math.min(SEEDED_AT_MS, nowMs), Math.max(SEEDED_AT_MS, nowMs))
  }

  /** A time of the past. Null and undefined are the fallback. */
  timeOf<Fallback>(
    member: string,
    text: string | null | undefined,
    fallback: Fallback,
    latestMs = this.loading.nowMs,
  ): number | Fallback {
    if (text === null || text === undefined) return fallback
    const before = text.startsWith('-') ? parseDuration(text.slice(1)) : undefined
    const timeMs = before === undefined ? parseTimestamp(text) : this.loading.nowMs - before
    if (timeMs === undefined) this.wrong(member, 'must be an RFC 3339 time, or a duration before the present like -P2D')
    else if (timeMs < 0) this.wrong(member, 'must not be before 1970')
    else if (timeMs > latestMs) this.wrong(member, 'must not be after the present of the world')
    return timeMs ?? fallback
  }

  minorOf(member: string, amount: number, { currency, precision }: Currency): number {
    const minor = this.in(member).attempt(() => toMinor(amount, precision))
    if (minor === undefined) this.wrong(member, `must have at most the ${precision} decimals of ${currency}`)
    return minor ?? 0
  }

  /** How many vouchers of an order are made. */
  takeVouchers(count: number): number {
    this.loading.voucherCount += count
    if (this.loading.voucherCount <= VOUCHERS_MAX) return count
    this.wrong('', `all orders together deliver more than ${VOUCHERS_MAX} vouchers`)
    return 0
  }
}

/** Runs a generator at once. */
export const finish = <T>(steps: Iterator<unknown, T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
