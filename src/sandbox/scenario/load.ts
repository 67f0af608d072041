import { saveBeneficiaryAs } from '../../beneficiaries/beneficiaries.ts'
import { readBeneficiary } from '../../beneficiaries/contract.ts'
import { findRates } from '../../charges/queries.ts'
import { type BaseRates, parseRates, type RateSource, ratesFrom } from '../../charges/rates.ts'
import { replaceRates } from '../../charges/stored-rates.ts'
import { Database, type Tx } from '../../db/database.ts'
import { parseTimestamp, type SteadyClock, TIME_MAX_MS } from '../../kernel/clock.ts'
import { IdSource, type IdState, SeededRandomness, seedFrom } from '../../kernel/ids.ts'
import { FileFault } from '../../kernel/problems.ts'
import { type ClockState, MovableClock } from '../worlds/movable-clock.ts'
import type { StateBesideData } from '../worlds/state.ts'
import { loadClients, loadProducts, loadWallets, openBalances, storeProducts } from './accounts.ts'
import { Loading, type Place, ScenarioFault, type ScenarioSources } from './loading.ts'
import { loadOrder } from './orders.ts'
import { loadPayout } from './payouts.ts'
import type { Scenario } from './schema.ts'

/**
 * Makes the state of a world from a document (decision 57). It is written to a separate database, so that an invalid
 * document changes nothing, and through the ledger, so that each order and payout has its entries.
 */

/** The state in which the world continues the one that it replaces, if there is one. */
export interface Beginning {
  randomness: { seed: string; position: number }
  ids: IdState
}

/** A world that replaces no other. */
export const firstOf = (seed: string): Beginning => ({
  randomness: { seed, position: 0 },
  ids: { lastMs: -1, sequence: 0 },
})

/** How many records are written before the time is checked again. */
const RECORDS_PER_STEP = 10

/** A world that is not in use yet. Its holder closes its database. */
export interface Staged {
  database: Database
  state: StateBesideData
  /** By name. */
  clientIds: ReadonlyMap<string, number>
}

/** Yields between groups of records. @throws ScenarioFault with everything that is wrong */
export function* staged(
  document: Scenario,
  sources: ScenarioSources,
  base: SteadyClock,
  beginning: Beginning,
): Generator<undefined, Staged> {
  const clock = clockOf(document, base)
  const randomness = randomnessFor(document, beginning.randomness)
  const ids = new IdSource(randomness, beginning.ids)
  const pace = { payouts: 'auto', orders: 'auto', ...document.pace } as const
  const database = Database.inMemory(sources.empty())
  try {
    database.trust()
    const loading = new Loading(sources, clock.nowMs, ids, pace, ratesIn(database, sources))
    yield* database.fillInSteps((tx) => write(tx, loading, document))
    const { seed, position } = randomness
    const state = { clock: clock.state, randomness: { seed, position }, ids: ids.state, pace }
    return { database, state, clientIds: loading.clientIds }
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * The names in a document may come from the same stream, in the world from which it was exported. Then the world
 * continues with another stream that depends on them, so that no name is drawn twice.
 */
const randomnessFor = (
  { beneficiaries = [], orders = [], payouts = [] }: Scenario,
  before: Beginning['randomness'],
): SeededRandomness => {
  const names = [
    ...beneficiaries.map(({ id }) => [id]),
    ...orders.map(({ id, client_reference }) => [id, client_reference]),
    ...payouts.map(({ id, reference_id }) => [id, reference_id]),
  ]
  return names.flat().every((name) => name === undefined)
    ? new SeededRandomness(before.seed, before.position)
    : new SeededRandomness(seedFrom(before, JSON.stringify(names)))
}

/** Read when they are first needed, once those of the document are there. */
const ratesIn = ({ query }: Database, sources: ScenarioSources): RateSource => {
  let known: BaseRates | undefined
  return ratesFrom((currency) => {
    known ??= findRates(query) ?? sources.initialRates()
    return known?.perBaseE8.get(currency)
  })
}

/** Writes the accounts, reads the records, and writes their events in the order of time. */
function* write(tx: Tx, loading: Loading, document: Scenario): Generator<undefined, void> {
  loadRates(tx, loading, document)
  loadClients(tx, loading, document)
  loadWallets(tx, loading, document)
  loadProducts(loading, document)
  yield* inSteps(document.beneficiaries, (entry, index) => {
    loadBeneficiary(tx, loading.at(`/beneficiaries/${index}`), entry)
  })
  const orderIds = numbered(document.orders ?? [])
  yield* inSteps(document.orders, (entry, index) => {
    loadOrder(loading.at(`/orders/${index}`), entry, orderIds[index] ?? 0)
  })
  yield* inSteps(document.payouts, (entry, index) => loadPayout(tx, loading.at(`/payouts/${index}`), entry))
  loading.check()
  storeProducts(tx, loading, document)
  openBalances(tx, loading)
  yield* inSteps(loading.movements, ({ at, apply }) => {
    at.attempt(() => apply(tx))
    loading.check() // what comes after it builds on it
  })
}

function* inSteps<Entry>(
  entries: readonly Entry[] = [],
  load: (entry: Entry, index: number) => void,
): Generator<undefined, void> {
  for (const [index, entry] of entries.entries()) {
    load(entry, index)
    if (index % RECORDS_PER_STEP === RECORDS_PER_STEP - 1) yield
  }
}

/** The clock of the world, and its time while the document is loaded. @throws ScenarioFault */
const clockOf = ({ clock = {} }: Scenario, base: SteadyClock): { state: ClockState; nowMs: number } => {
  const { now, offset_ms: offsetMs = 0, frozen = false } = clock
  const setMs = now === undefined ? undefined : parseTimestamp(now)
  if (now !== undefined && setMs === undefined) wrong('/clock/now', 'must be an RFC 3339 time')
  if (now !== undefined && clock.offset_ms !== undefined) wrong('/clock/offset_ms', 'must not come with now')
  const movable = new MovableClock(base, { offsetMs, frozenAtMs: null })
  if (frozen) movable.freeze()
  if (setMs !== undefined) movable.set(setMs)
  const nowMs = movable.nowMs()
  if (nowMs < 0 || nowMs > TIME_MAX_MS) wrong('/clock/offset_ms', 'must lead to a time from 1970 to 9999')
  return { state: movable.state, nowMs }
}

const wrong = (path: string, what: string): never => {
  throw new ScenarioFault([{ path, what }])
}

const loadRates = (tx: Tx, loading: Loading, { rates }: Scenario): void => {
  if (!rates) return
  try {
    replaceRates(tx, loading.sources.reference, parseRates(JSON.stringify(rates)))
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    for (const problem of error.problems) {
      const [path = '', ...what] = problem.split(': ')
      loading.at(`/rates${path}`).wrong('', what.join(': '))
    }
  }
}

const loadBeneficiary = (tx: Tx, at: Place, entry: NonNullable<Scenario['beneficiaries']>[number]): void => {
  const { sources, nowMs, ids } = at.loading
  const clientId = at.clientOf(entry.client)
  const input = at.attempt(() => readBeneficiary(entry, sources.reference))
  const createdAtMs = at.timeOf('created_at', entry.created_at, nowMs)
  const isNew = at.isNew('id', 'beneficiaries', entry.id)
  if (clientId === undefined || !input || !isNew) return
  saveBeneficiaryAs(tx, { id: entry.id ?? ids.next('ben', createdAtMs), clientId, createdAtMs }, input)
}

/** The ids of orders: those in the document, and for the others the next free numbers. */
const numbered = (orders: NonNullable<Scenario['orders']>): number[] => {
  let last = orders.reduce((highest, { id = 0 }) => Math.max(highest, id), 0)
  return orders.map(({ id }) => id ?? ++last)
}
