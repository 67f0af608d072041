import { type Beneficiary, beneficiariesOf, findAnyBeneficiary } from '../beneficiaries/queries.ts'
import { rewriteBeside } from '../db/beside.ts'
import type { Query } from '../db/database.ts'
import { lockForCopying } from '../db/folder-lock.ts'
import { copiesIn } from '../db/scrub.ts'
import { type Erased, erase } from '../erasure/erasure.ts'
import { Person } from '../erasure/person.ts'
import { isEmailAddress } from '../http/validation.ts'
import { misused, refused } from '../kernel/exit.ts'
import { payoutsTo } from '../payouts/queries.ts'
import { findDefaultWallet } from '../wallets/queries.ts'
import type { Acting } from './act.ts'
import { Facts, type Row } from './cells.ts'
import { field } from './fields.ts'
import { act, type Kind, listing, members, type Noun, type Shown, showing } from './kind.ts'

/** `scrip beneficiary`: saved beneficiaries, and the erasure of a person (contract C10, C17). */

const COLUMNS: Shown<Beneficiary> = {
  ...members<Beneficiary>('id', 'clientId', 'email', 'firstName', 'lastName', 'country', 'phone', 'totalPayouts'),
}

const CREATED = members<Beneficiary>('createdAtMs')

export const BENEFICIARY: Kind<string, Beneficiary> = {
  name: 'beneficiary',
  group: 'beneficiary',
  argument: field('<id>', 'the beneficiary'),
  find: findAnyBeneficiary,
  columns: { ...COLUMNS, ...CREATED },
  details: {
    ...COLUMNS,
    total_amount: ({ clientId, totalAmountMinor }, { query, amount }) => {
      const wallet = findDefaultWallet(query, clientId)
      return wallet ? amount(totalAmountMinor, wallet.currencyId) : null
    },
    currency: ({ clientId }, { query, shownCurrency }) => {
      const wallet = findDefaultWallet(query, clientId)
      return wallet ? shownCurrency(wallet.currencyId).currency : null
    },
    ...members<Beneficiary>('lastPayoutAtMs'),
    metadata: ({ metadata }) => new Facts(metadata),
    ...CREATED,
  },
}

const eraseOne = async (data: Acting, { person: named }: { person: string }): Promise<Row> => {
  const { config, database, query, delivering, write, record, note } = data
  const person = personOf(query, named)
  // Meanwhile no command makes a copy or a new key.
  using _lock = await lockForCopying(config.dataDir)
  requireNoCopies(config.dataDir)
  const open = ({ body, associatedData }: { body: string; associatedData: string }) =>
    delivering.ciphers(query).decrypt(Buffer.from(body, 'base64'), associatedData)
  const erased =
    person &&
    (await write((tx) => {
      const counts = erase(tx, person, open)
      database.eraseChanges()
      if (!isNothing(counts)) record(tx, { after: rowOf(counts) })
      return counts
    }))
  // Done even if nothing was found: an earlier run may have been interrupted here.
  await database.whileHeld(() => rewriteBeside(database.sqlite.filename))
  if (!erased || isNothing(erased)) throw refused(NOBODY)
  note(BACKUPS)
  return rowOf(erased)
}

/** The person to erase; undefined for an unknown beneficiary. @throws ProgramError */
const personOf = (query: Query, named: string): Person | undefined => {
  if (!named.startsWith('ben_')) {
    if (isEmailAddress(named)) return new Person(named, undefined)
    throw misused(
      `${named} is neither an e-mail address nor the id of a saved beneficiary\nSee scrip beneficiary list.`,
    )
  }
  const [payout] = payoutsTo(query, named)
  const email = findAnyBeneficiary(query, named)?.email ?? payout?.beneficiaryEmail
  return email ? new Person(email, named) : undefined
}

/** @throws ProgramError */
const requireNoCopies = (dataDir: string): void => {
  const [copy] = copiesIn(dataDir)
  if (copy === undefined) return
  throw refused(
    `${dataDir} has another copy of the data: ${copy}\nMove it to your backups, or delete it, first. Programs that were killed leave .scrip-draft- folders.`,
  )
}

const rowOf = ({ idempotencyKeys, ...erased }: Erased) => ({ ...erased, idempotency_keys: idempotencyKeys })

const isNothing = ({ beneficiaries, ...counts }: Erased): boolean =>
  beneficiaries.length === 0 && Object.values(counts).every((count) => count === 0)

const NOBODY = 'nothing is stored about this person\nSee scrip beneficiary list.'
const BACKUPS =
  'Backups keep the person until you delete them. After a restore of an older one, erase the person again.'

const NARROWED = {
  client: true,
  times: 'saved',
  takes: { email: field('--email <address>', 'only those with this e-mail address, in any case') },
} as const
const ERASED = { person: field('<id|email>', 'a saved beneficiary, or an e-mail address: the person at every client') }

export const beneficiaryActs = {
  list: listing(
    'List the saved beneficiaries of all clients, newest first',
    BENEFICIARY.columns,
    (query, narrowing, { email }) => beneficiariesOf(query, narrowing, email),
    NARROWED,
  ),
  show: showing(BENEFICIARY, 'Show a saved beneficiary, and the payments so far'),
  erase: act('Erase a person from all records; the ledger stays complete', ERASED, eraseOne),
} satisfies Noun
