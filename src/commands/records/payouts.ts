import type { Command } from 'commander'
import type { Query, Tx } from '../../db/database.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { cancelPayout } from '../../payouts/payouts.ts'
import { ADVANCE_TARGETS, advance, applyEvent, type EventDetails, type Moving } from '../../payouts/progress.ts'
import { findAnyPayout, PAYOUT_STATUSES, type Payout, payoutsOf } from '../../payouts/queries.ts'
import type { Reference } from '../../reference/reference.ts'
import { sandboxStep } from '../../sandbox/test-values/payouts.ts'
import type { World } from '../../worlds/world.ts'
import { isOfStatus } from '../advice.ts'
import { choiceOption } from '../arguments.ts'
import { Amount, listOf, mapped } from '../terminal/cells.ts'
import { act, moneyCommand } from './acts.ts'
import { administer, dataCommand, refused } from './administration.ts'
import { clientNamesById } from './client-records.ts'
import { type ListOptions, listCommand, narrowingOf } from './lists.ts'

/** `scrip payouts`: what an operator moves on in live mode (contract C13). */

export const payoutCommands = (payouts: Command): void => {
  const narrowable = { client: true, times: 'created', statuses: PAYOUT_STATUSES } as const
  listCommand(payouts, 'list', 'list the payouts of all clients, oldest first', narrowable).action(
    administer(({ config, database: { query }, reference }, options: ListOptions) => {
      const names = clientNamesById(query)
      const rows = mapped(payoutsOf(query, narrowingOf(query, options)), (payout) => ({
        ...payoutRow(reference, names, payout),
        ...payeeOf(payout),
      }))
      return listOf(config.format === 'text' ? COLUMNS : [...COLUMNS, ...PAYEE_COLUMNS], rows)
    }),
  )
  dataCommand(payouts, 'show', 'show a payout and its beneficiary')
    .argument('<id>', 'the payout')
    .action(
      administer(({ database: { query }, reference }, id: string) => {
        const payout = getPayout(query, id)
        return { ...payoutRow(reference, clientNamesById(query), payout), ...payeeOf(payout) }
      }),
    )
  moneyCommand(payouts, 'advance', 'move a payout to its next status, or on to a given one')
    .argument('<id>', 'the payout')
    .addOption(choiceOption('--to <status>', 'the status to reach', ADVANCE_TARGETS))
    .action(
      move((tx, moving, world, payout, details, { to }: { to?: (typeof ADVANCE_TARGETS)[number] }) =>
        advance(tx, moving, world, payout, to, details),
      ),
    )
  moneyCommand(payouts, 'fail', 'fail a payout; the client is refunded amount and fees')
    .argument('<id>', 'the payout')
    .option('--code <code>', 'failure_code shown to the client')
    .option('--reason <text>', 'failure_reason shown to the client')
    .action(
      move((tx, moving, world, payout, details, { code, reason }: { code?: string; reason?: string }) =>
        applyEvent(tx, moving, world, payout, 'failed', { ...details, failureCode: code, failureReason: reason }),
      ),
    )
  moneyCommand(payouts, 'cancel', 'cancel a payout that is not submitted yet; the client is refunded amount and fees')
    .argument('<id>', 'the payout')
    .action(move((tx, moving, world, payout, { actorType }) => cancelPayout(tx, moving, world, payout, actorType)))
  moneyCommand(payouts, 'return', 'return a completed payout; the client is refunded the amount without fees')
    .argument('<id>', 'the payout')
    .action(move((tx, moving, world, payout, details) => applyEvent(tx, moving, world, payout, 'returned', details)))
}

type Move<Options> = (
  tx: Tx,
  moving: Moving,
  world: World,
  payout: Payout,
  details: EventDetails,
  options: Options,
) => Payout

const move = <Options>(by: Move<Options>) =>
  act(({ world, reference, isSandbox, write, record }, id: string, options: Options) =>
    write((tx) => {
      const details: EventDetails = { actorType: 'operator', nowMs: world.clock.nowMs() }
      const moving = { reference, byClock: () => isSandbox, stepByClock: isSandbox ? sandboxStep : undefined }
      const payout = getPayout(tx, id)
      const moved = refusing(payout, () => by(tx, moving, world, payout, details, options))
      record(tx, { before: stateOf(payout), after: stateOf(moved) })
      return payoutRow(reference, clientNamesById(tx), moved)
    }),
  )

/** @throws ProgramError in place of a failure, with the status that the payout has */
const refusing = <T>({ id, status }: Payout, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!isOfStatus(error)) throw error
    const next =
      status === 'completed' ? `scrip payouts return ${id} gives its money back.` : `See scrip payouts show ${id}.`
    throw refused(`payout ${id} is ${status}, and cannot be changed like this\n${next}`)
  }
}

/** For the audit, which names nobody. */
const stateOf = ({ status, submittedAtMs, returned }: Payout) => ({
  status,
  submitted: submittedAtMs !== null,
  returned,
})

const getPayout = (query: Query, id: string): Payout => {
  const payout = findAnyPayout(query, id)
  if (!payout) throw refused(`there is no payout ${id}\nSee scrip payouts list.`)
  return payout
}

const COLUMNS = [
  'id',
  'client',
  'status',
  'submitted',
  'returned',
  'amount',
  'currency',
  'beneficiary',
  'reference_id',
  'failure_reason',
  'created_at',
] as const
const PAYEE_COLUMNS = [
  'beneficiary_first_name',
  'beneficiary_last_name',
  'beneficiary_country',
  'beneficiary_phone',
  'beneficiary_identifiers',
  'description',
] as const

const payoutRow = (reference: Reference, names: ReadonlyMap<number, string>, payout: Payout) => {
  const currency = reference.getCurrency(payout.currencyId)
  return {
    id: payout.id,
    client: names.get(payout.clientId) ?? null,
    status: payout.status,
    submitted: payout.submittedAtMs !== null,
    returned: payout.returned,
    amount: new Amount(payout.amountMinor, currency),
    currency: currency.currency,
    beneficiary: payout.beneficiaryEmail,
    reference_id: payout.referenceId,
    failure_reason: payout.failureReason,
    created_at: toTimestamp(payout.createdAtMs),
  }
}

const payeeOf = (payout: Payout) => ({
  beneficiary_first_name: payout.beneficiaryFirstName,
  beneficiary_last_name: payout.beneficiaryLastName,
  beneficiary_country: payout.beneficiaryCountry,
  beneficiary_phone: payout.beneficiaryPhone,
  beneficiary_identifiers: payout.beneficiaryIdentifiers,
  description: payout.description,
})
