import type { Command } from 'commander'
import type { Acting, Acts } from '../../acts/act.ts'
import { Facts, type Row } from '../../acts/cells.ts'
import type { Kind, Shown } from '../../acts/kind.ts'
import { type Beneficiary, beneficiariesOf, findAnyBeneficiary } from '../../beneficiaries/queries.ts'
import type { Query } from '../../db/database.ts'
import { lockForCopying } from '../../db/folder-lock.ts'
import { copiesIn } from '../../db/scrub.ts'
import { type Erased, erase } from '../../erasure/erasure.ts'
import { Person } from '../../erasure/person.ts'
import { isEmailAddress } from '../../http/validation.ts'
import { toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import { misused, refused } from '../../kernel/exit.ts'
import { payoutsTo } from '../../payouts/queries.ts'
import { findDefaultWallet } from '../../wallets/queries.ts'
import { acting } from '../acts/ask.ts'
import { rewriteBeside } from '../data/beside.ts'
import { dataCommand } from './administration.ts'
import { list, listCommand, recordCommand, show } from './records.ts'

/** `scrip beneficiary`: saved beneficiaries, and the erasure of a person (contract C10, C17). */
export const beneficiaryCommands = (beneficiary: Command): void => {
  const narrowable = { client: true, times: 'saved' } as const
  listCommand(beneficiary.command('list'), 'list the saved beneficiaries of all clients, newest first', narrowable)
    .option('--email <address>', 'only those with this e-mail address, in any case')
    .action(
      list(BENEFICIARY.columns, (query, narrowing, _, { email }: { email?: string }) =>
        beneficiariesOf(query, narrowing, email),
      ),
    )
  recordCommand(beneficiary, BENEFICIARY, 'show', 'show a saved beneficiary, and what was paid so far').action(
    show(BENEFICIARY),
  )
  dataCommand(beneficiary, 'erase', 'erase a person from all records; the ledger stays complete')
    .argument('<id|email>', 'a saved beneficiary, or an e-mail address: the person at every client')
    .action(acting(beneficiaryActs))
}

const COLUMNS: Shown<Beneficiary> = {
  id: ({ id }) => id,
  client: ({ clientId }, { clientName }) => clientName(clientId),
  email: ({ email }) => email,
  first_name: ({ firstName }) => firstName,
  last_name: ({ lastName }) => lastName,
  country: ({ country }) => country,
  phone: ({ phone }) => phone,
  total_payouts: ({ totalPayouts }) => totalPayouts,
}

const CREATED: Shown<Beneficiary> = { created_at: ({ createdAtMs }) => toTimestamp(createdAtMs) }

export const BENEFICIARY: Kind<string, Beneficiary> = {
  name: 'beneficiary',
  group: 'beneficiary',
  argument: ['<id>', 'the beneficiary'],
  find: findAnyBeneficiary,
  columns: { ...COLUMNS, ...CREATED },
  details: {
    ...COLUMNS,
    total_amount: ({ clientId, totalAmountMinor }, { query, amount }) => {
      const wallet = findDefaultWallet(query, clientId)
      return wallet ? amount(totalAmountMinor, wallet.currencyId) : null
    },
    currency: ({ clientId }, { query, currency }) => {
      const wallet = findDefaultWallet(query, clientId)
      return wallet ? currency(wallet.currencyId).currency : null
    },
    last_payout_at: ({ lastPayoutAtMs }) => toTimestampOrNull(lastPayoutAtMs),
    metadata: ({ metadata }) => new Facts(metadata),
    ...CREATED,
  },
}

const eraseOne = async (data: Acting, named: string): Promise<Row> => {
  const { config, database, query, delivering, write, record, note } = data
  const person = personOf(query, named)
  // Meanwhile no command makes a copy or a new key.
  using _lock = await lockForCopying(config.dataDir)
  requireNoCopies(config.dataDir)
  const open = ({ body, place }: { body: string; place: string }) =>
    delivering.seals(query).openText(Buffer.from(body, 'base64'), place)
  const erased =
    person &&
    (await write((tx) => {
      const counts = erase(tx, person, open)
      database.eraseChanges()
      if (!isNothing(counts)) record(tx, { after: rowOf(counts) })
      return counts
    }))
  // Also when nothing is found: an earlier run may have been interrupted here.
  await database.whileHeld(() => rewriteBeside(database.sqlite.filename))
  if (!erased || isNothing(erased)) throw refused(NOBODY)
  note(BACKUPS)
  return rowOf(erased)
}

/** Undefined for a beneficiary that is not there. @throws ProgramError */
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

export const beneficiaryActs: Acts = { 'beneficiary erase': eraseOne }
