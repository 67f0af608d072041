import { type Beneficiary, beneficiariesOf, findAnyBeneficiary } from '../beneficiaries/queries.ts'
import { rewriteBeside } from '../db/beside.ts'
import type { Query } from '../db/database.ts'
import { type Erased, erase, findRows } from '../erasure/erasure.ts'
import { Person } from '../erasure/person.ts'
import { copiesIn } from '../folder/copies.ts'
import { freeBytesIn } from '../folder/disk.ts'
import { lockForCopying } from '../folder/lock.ts'
import { isEmailAddress } from '../http/validation.ts'
import { misused, refused } from '../kernel/exit.ts'
import { payoutsTo } from '../payouts/queries.ts'
import { findDefaultWallet } from '../wallets/queries.ts'
import type { Acting, Performer } from './act.ts'
import { type Row, StoredJson } from './cells.ts'
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
    metadata: ({ metadata }) => new StoredJson(metadata),
    ...CREATED,
  },
}

const eraseOne = async (data: Acting, { person: named }: { person: string }): Promise<Row> => {
  const { config, database, query, delivering, write, record, note } = data
  // Meanwhile no command makes a copy or a new key.
  using _lock = await lockForCopying(config.dataDir)
  requireNoCopies(config.dataDir)
  requirePerson(named)
  note(roomToRewrite(config.dataDir, database))
  const open = ({ body, associatedData }: { body: string; associatedData: string }) =>
    delivering.ciphers(query).decrypt(Buffer.from(body, 'base64'), associatedData)
  const erased = await database.whileHeld(async (pass) => {
    const person = await personOf(query, named)
    const found = person && (await findRows(query, person, open))
    const erased =
      found &&
      (await pass(() =>
        write((tx) => {
          const counts = erase(tx, person, found)
          database.eraseChanges()
          if (!isNothing(counts)) record(tx, { after: rowOf(counts) })
          return counts
        }),
      ))
    // Done even if nothing was found: an earlier run may have been interrupted here.
    await rewriteBeside(database.sqlite.filename)
    return erased
  })
  if (!erased || isNothing(erased)) throw refused(NOBODY)
  note(BACKUPS)
  return rowOf(erased)
}

/** @throws ProgramError */
const requirePerson = (named: string): void => {
  if (isId(named) || isEmailAddress(named)) return
  throw misused(`${named} is neither an e-mail address nor the id of a saved beneficiary\nSee scrip beneficiary list.`)
}

const isId = (named: string): boolean => named.startsWith('ben_')

/** Undefined for an unknown beneficiary. */
const personOf = async (query: Query, named: string): Promise<Person | undefined> => {
  if (!isId(named)) return new Person(named, undefined)
  const email = findAnyBeneficiary(query, named)?.email ?? (await payeeOf(query, named))
  return email ? new Person(email, named) : undefined
}

/** The address of a beneficiary who was deleted. */
const payeeOf = async (query: Query, id: string): Promise<string | undefined> => {
  for await (const { beneficiaryEmail } of payoutsTo(query, id)) if (beneficiaryEmail) return beneficiaryEmail
  return undefined
}

/** For a command whose server has ended in between. */
const completeErasure = async ({ config, database }: Performer): Promise<void> => {
  using _lock = await lockForCopying(config.dataDir)
  await database.whileHeld(() => rewriteBeside(database.sqlite.filename))
}

/** The room that a rewriting takes, in words: for all of it in a temporary file, and again in the log. @throws ProgramError if it is not there */
const roomToRewrite = (dataDir: string, { byteCount }: Acting['database']): string => {
  const needed = 2 * byteCount
  const free = freeBytesIn(dataDir)
  const room = `${inMegabytes(needed)} of free space in ${dataDir}, which has ${inMegabytes(free)}`
  if (free < needed) throw refused(`nothing was erased: rewriting the database takes ${room}\nFree some space first.`)
  return `The database is being rewritten, which takes up to ${room}. Reads continue; a write that has waited for 5 s gets a 503.`
}

const MEGABYTE = 1_000_000
const inMegabytes = (bytes: number): string => `${Math.ceil(bytes / MEGABYTE)} MB`

/** @throws ProgramError */
const requireNoCopies = (dataDir: string): void => {
  const [copy] = copiesIn(dataDir)
  if (copy === undefined) return
  throw refused(
    `${dataDir} has another copy of the data: ${copy}\nMove it to your backups, or delete it, first. Killed programs leave .scrip-draft- folders behind.`,
  )
}

const rowOf = ({ idempotencyKeys, ...erased }: Erased) => ({ ...erased, idempotency_keys: idempotencyKeys })

const isNothing = ({ beneficiaries, ...counts }: Erased): boolean =>
  beneficiaries.length === 0 && Object.values(counts).every((count) => count === 0)

const NOBODY = 'nothing is stored about this person\nSee scrip beneficiary list.'
const BACKUPS = 'Existing backups still contain this person. If you restore one, erase the person again.'

const NARROWED = {
  brief: 'id client email first_name last_name country created_at',
  client: true,
  times: 'saved',
  takes: { email: field('--email <address>', 'only those with this e-mail address, in upper or lower case') },
} as const
const ERASED = {
  person: field('<id|email>', 'id of a saved beneficiary, or an e-mail address: the person at every client', {
    label: 'Person',
  }),
}

export const beneficiaryActs = {
  list: listing(
    'List the saved beneficiaries of all clients, newest first',
    BENEFICIARY.columns,
    (query, narrowing, { email }) => beneficiariesOf(query, narrowing, email),
    NARROWED,
  ),
  show: showing(BENEFICIARY, 'Show a saved beneficiary, and the payments so far'),
  erase: act('Erase person', 'Erase a person from all records; the ledger stays complete', ERASED, eraseOne, {
    complete: completeErasure,
  }),
} satisfies Noun
