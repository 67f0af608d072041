import { saveBeneficiary } from '../../src/beneficiaries/beneficiaries.ts'
import { databasePath } from '../../src/db/data-folder.ts'
import { Database, type Tx } from '../../src/db/database.ts'
import { preparedInsert } from '../../src/db/prepared.ts'
import { secureRandomness } from '../../src/kernel/ids.ts'
import { type Payout, payoutEvents, payouts } from '../../src/payouts/tables.ts'
import { passwordDigest } from '../../src/sessions/credentials.ts'
import { addClient } from '../../src/sessions/queries.ts'
import { readReference } from '../../src/start/seed.ts'
import { fund } from '../../src/wallets/ledger.ts'
import { openWallet } from '../../src/wallets/queries.ts'
import { World } from '../../src/worlds/world.ts'

/** Fills the database of a stopped server with more than could be sent to it one by one. */

export interface Crowd {
  /** Clients besides those of the sandbox; each has a wallet. */
  clients: number
  /** Of each of them, or of the sandbox's own client when there are no others. */
  records: number
}

/** Some of what was written, from all over it. */
export interface Written {
  beneficiaryIds: string[]
  payoutIds: string[]
}

export const SANDBOX_CLIENT = { id: 1, walletId: 1 } as const
const FIRST_NAMES = ['Ada', 'Grace', 'Mary', 'Edith', 'Hedy', 'Joan', 'Karen', 'Radia', 'Barbara', 'Frances']
/** Of so many payouts one has failed, and another one is in euro. */
const EXCEPTION_EVERY = 10
/** The part of the payouts that is completed, and the part that is in dollars. */
export const COMMON = 1 - 1 / EXCEPTION_EVERY
const SURNAMES = 1_000
const COUNTRIES = ['GB', 'US', 'IN', 'DE', 'JP', 'FR', null]
const NOTED = 50
/** Rows of one commit. */
const BATCH = 20_000
const SECOND_MS = 1_000
const FIRST_AT_MS = Date.UTC(2026, 0, 1)
const AMOUNTS = 5_000
const BALANCE_MINOR = 100_000_000

export const usernameOf = (index: number): string => `client-${index}`

/** The same data for the same crowd, but for the random part of its ids. */
export const fill = (dataDir: string, { clients, records }: Crowd): Written => {
  const database = Database.openFile(databasePath(dataDir))
  const { sqlite } = database
  sqlite.run('PRAGMA synchronous = OFF')
  let nowMs = FIRST_AT_MS
  const world = new World('default', database, { nowMs: () => nowMs, steadyMs: () => nowMs }, secureRandomness)
  const reference = readReference()
  const [usd, eur] = ['USD', 'EUR'].map((code) => reference.findCurrencyByCode(code)?.id ?? 0) as [number, number]
  const owners = database.fill((tx) => ownersFor(tx, usd, clients))
  const written: Written = { beneficiaryIds: [], payoutIds: [] }
  const total = owners.length * records
  const noteEvery = Math.max(1, Math.floor(total / NOTED))
  for (let start = 0; start < total; start += BATCH) {
    database.fill((tx) => {
      const insert = inserter(tx, usd, eur)
      for (let index = start; index < Math.min(start + BATCH, total); index++) {
        const owner = owners[Math.floor(index / records)] as Owner
        const number = index % records
        nowMs = FIRST_AT_MS + number * SECOND_MS
        const saved = saveBeneficiary(tx, world, owner.id, inputOf(number))
        const payout = insert(world, owner, number)
        if (index % noteEvery === 0) {
          written.beneficiaryIds.push(saved.id)
          written.payoutIds.push(payout.id)
        }
      }
    })
  }
  sqlite.run('PRAGMA synchronous = FULL')
  world.close()
  return written
}

interface Owner {
  id: number
  walletId: number
}

const ownersFor = (tx: Tx, currencyId: number, count: number): Owner[] => {
  if (count === 0) return [SANDBOX_CLIENT]
  return Array.from({ length: count }, (_, index) => {
    const username = usernameOf(index)
    const clientId = addClient(tx, username, passwordDigest(username), FIRST_AT_MS)
    const opened = { clientId, currencyId, type: 'PREPAID', creditLimitMinor: 0 } as const
    const wallet = openWallet(tx, opened, FIRST_AT_MS)
    fund(tx, undefined, wallet, BALANCE_MINOR, { remarks: 'Opening balance', nowMs: FIRST_AT_MS })
    return { id: clientId, walletId: wallet.id }
  })
}

const nameOf = (number: number) => ({
  firstName: FIRST_NAMES[number % FIRST_NAMES.length] as string,
  lastName: `Lovelace ${Math.floor(number / FIRST_NAMES.length) % SURNAMES}`,
})

export const emailOf = (number: number): string => `${nameOf(number).firstName.toLowerCase()}.${number}@example.com`
export const referenceOf = (number: number): string => `bonus-${number}-paid`

const inputOf = (number: number) => ({
  ...nameOf(number),
  email: emailOf(number),
  country: COUNTRIES[number % COUNTRIES.length] ?? null,
  phone: '+442079460958',
  metadata: '{"employee":"E-1"}',
})

/** Payouts that are over, so that nothing is due; what they moved in the ledger is left out, because no list reads it. */
const inserter = (tx: Tx, usd: number, eur: number): ((world: World, owner: Owner, number: number) => Payout) => {
  const insertPayout = preparedInsert(payouts)
  const insertEvent = preparedInsert(payoutEvents)
  return (world, owner, number) => {
    const nowMs = world.clock.nowMs()
    const { firstName, lastName } = nameOf(number)
    const amountMinor = 100 + ((number * 7_919) % AMOUNTS)
    const failed = number % EXCEPTION_EVERY === 0
    const payout: Payout = {
      id: world.ids.next('pyt', nowMs),
      clientId: owner.id,
      referenceId: referenceOf(number),
      status: failed ? 'failed' : 'completed',
      walletId: owner.walletId,
      currencyId: number % EXCEPTION_EVERY === 1 ? eur : usd,
      amountMinor,
      amountRank: amountMinor * 100,
      feesMinor: 0,
      rateE8: null,
      paidMinor: amountMinor,
      paidAmountMinor: amountMinor,
      paidConversionMinor: null,
      beneficiaryTotalMinor: amountMinor,
      beneficiaryId: null,
      beneficiaryEmail: emailOf(number),
      beneficiaryFirstName: firstName,
      beneficiaryLastName: lastName,
      beneficiaryCountry: null,
      beneficiaryPhone: null,
      beneficiaryIdentifiers: null,
      searchLowerCase: `${referenceOf(number)}\0${emailOf(number)}`,
      description: null,
      metadata: '{}',
      failureCode: failed ? 'payout_failed' : null,
      failureReason: failed ? 'The account is closed' : null,
      returned: false,
      dueAtMs: null,
      dueEvent: null,
      createdAtMs: nowMs,
      queuedAtMs: nowMs,
      submittedAtMs: nowMs,
      completedAtMs: failed ? null : nowMs,
      failedAtMs: failed ? nowMs : null,
      cancelledAtMs: null,
    }
    insertPayout(tx, payout)
    const event = { eventType: 'created', fromStatus: null, toStatus: 'created', actorType: 'client' } as const
    insertEvent(tx, { id: null, payoutId: payout.id, ...event, message: null, createdAtMs: nowMs })
    return payout
  }
}
