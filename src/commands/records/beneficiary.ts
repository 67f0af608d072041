import type { Command } from 'commander'
import { type Beneficiary, beneficiariesOf, findAnyBeneficiary } from '../../beneficiaries/queries.ts'
import type { Query } from '../../db/database.ts'
import { lockForImport, lockForTakeOver } from '../../db/folder-lock.ts'
import { copiesIn, rewriteFile } from '../../db/scrub.ts'
import { type Erased, erase } from '../../erasure/erasure.ts'
import { Person } from '../../erasure/person.ts'
import { isEmailAddress } from '../../http/validation.ts'
import { MINUTE_MS, toTimestamp, toTimestampOrNull } from '../../kernel/clock.ts'
import { payoutsTo } from '../../payouts/queries.ts'
import type { Reference } from '../../reference/reference.ts'
import { findDefaultWallet } from '../../wallets/queries.ts'
import { EXIT, ProgramError } from '../exit.ts'
import { Amount, Facts, listOf, mapped, type Row } from '../terminal/cells.ts'
import { note } from '../terminal/output.ts'
import { type Acting, act } from './acts.ts'
import { administer, dataCommand, otherMode, refused } from './administration.ts'
import { clientNamesById } from './client-records.ts'
import { type ListOptions, listCommand, narrowingOf } from './lists.ts'

/** `scrip beneficiary`: who is saved, and the erasure of a person (contract C10, C17). */
export const beneficiaryCommands = (beneficiary: Command): void => {
  const narrowable = { client: true, times: 'saved' } as const
  listCommand(beneficiary, 'list', 'list the saved beneficiaries of all clients, oldest first', narrowable)
    .option('--email <address>', 'only those with this e-mail address, in any case')
    .action(
      administer(({ database: { query } }, { email, ...options }: ListOptions & { email?: string }) => {
        const names = clientNamesById(query)
        const found = beneficiariesOf(query, narrowingOf(query, options), email)
        return listOf(
          COLUMNS,
          mapped(found, (one) => beneficiaryRow(names, one)),
        )
      }),
    )
  dataCommand(beneficiary, 'show', 'show a saved beneficiary, and what was paid so far')
    .argument('<id>', 'the beneficiary')
    .action(administer(({ database: { query }, reference }, id: string) => details(query, reference, id)))
  dataCommand(beneficiary, 'erase', 'take a person out of all records; the ledger stays whole')
    .argument('<id|email>', 'a saved beneficiary, or an e-mail address: the person at every client')
    .action(act(eraseOne))
}

const COLUMNS = [
  'id',
  'client',
  'email',
  'first_name',
  'last_name',
  'country',
  'phone',
  'total_payouts',
  'created_at',
] as const

const beneficiaryRow = (names: ReadonlyMap<number, string>, one: Beneficiary) => ({
  id: one.id,
  client: names.get(one.clientId) ?? null,
  email: one.email,
  first_name: one.firstName,
  last_name: one.lastName,
  country: one.country,
  phone: one.phone,
  total_payouts: one.totalPayouts,
  created_at: toTimestamp(one.createdAtMs),
})

const details = (query: Query, reference: Reference, id: string): Row => {
  const one = findAnyBeneficiary(query, id)
  if (!one) throw refused(`there is no beneficiary ${id}\nSee scrip beneficiary list.`)
  const { created_at, ...row } = beneficiaryRow(clientNamesById(query), one)
  const wallet = findDefaultWallet(query, one.clientId)
  const currency = wallet && reference.getCurrency(wallet.currencyId)
  return {
    ...row,
    total_amount: currency ? new Amount(one.totalAmountMinor, currency) : null,
    currency: currency?.currency ?? null,
    last_payout_at: toTimestampOrNull(one.lastPayoutAtMs),
    metadata: new Facts(one.metadata),
    created_at,
  }
}

const eraseOne = async (acting: Acting, named: string): Promise<Row> => {
  const { config, database, isSandbox, delivering, write, record } = acting
  const { query } = database
  if (isSandbox) throw otherMode('a sandbox keeps copies of its data in worlds and snapshots\nDelete those instead.')
  const person = personOf(query, named)
  // No server that takes over makes a copy meanwhile, and no command a backup or a new key.
  using _takeOver = lockForTakeOver(config.dataDir, MINUTE_MS)
  requireNoCopies(config.dataDir)
  using _lock = lockForImport(config.dataDir, MINUTE_MS)
  const open = ({ body, place }: { body: string; place: string }) =>
    delivering.seals(query).openText(Buffer.from(body, 'base64'), place)
  const erased =
    person &&
    (await erase({ query, write, open }, person, (tx, counts) => {
      if (!isNothing(counts)) record(tx, { after: rowOf(counts) })
    }))
  // Also when nothing is found: an earlier run may have been interrupted here.
  rewriteFile(database.sqlite)
  if (!erased || isNothing(erased)) throw refused(NOBODY)
  note(BACKUPS, config.format)
  return rowOf(erased)
}

/** Undefined for a beneficiary that is not there. @throws ProgramError */
const personOf = (query: Query, named: string): Person | undefined => {
  if (!named.startsWith('ben_')) {
    if (isEmailAddress(named)) return new Person(named, undefined)
    throw new ProgramError(
      EXIT.usage,
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
