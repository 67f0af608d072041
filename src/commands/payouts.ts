import type { Command } from 'commander'
import type { Query, Tx } from '../db/database.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { ADVANCE_TARGETS, advance, applyEvent, type EventDetails, type Moving } from '../payouts/progress.ts'
import { allPayouts, findAnyPayout, PAYOUT_STATUSES, type Payout, type PayoutStatus } from '../payouts/queries.ts'
import type { Reference } from '../reference/reference.ts'
import { sandboxStep } from '../sandbox/test-values/payouts.ts'
import type { World } from '../worlds/world.ts'
import { administer, dataCommand, refused } from './administration.ts'
import { oneOf } from './arguments.ts'
import { clientNamesById } from './client.ts'
import { Amount, type Row } from './output.ts'

/** `scrip payouts`: what an operator moves on in live mode (contract C13). */

export const payoutCommands = (payouts: Command): void => {
  dataCommand(payouts, 'list', 'list the payouts of all clients, oldest first')
    .option('--status <status>', `only this status: ${PAYOUT_STATUSES.join(', ')}`, oneOf(PAYOUT_STATUSES))
    .action(
      administer(({ config, database: { query }, reference }, { status }: { status?: PayoutStatus }) => {
        const names = clientNamesById(query)
        return allPayouts(query, status && [status]).map((payout) => {
          const row = payoutRow(reference, names, payout)
          return config.json ? { ...row, ...payeeOf(payout) } : row
        })
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
  dataCommand(payouts, 'advance', 'move a payout to its next status, or on to a given one')
    .argument('<id>', 'the payout')
    .option('--to <status>', `one of ${ADVANCE_TARGETS.join(', ')}`, oneOf(ADVANCE_TARGETS))
    .action(
      move((tx, moving, world, payout, details, { to }: { to?: (typeof ADVANCE_TARGETS)[number] }) =>
        advance(tx, moving, world, payout, to, details),
      ),
    )
  dataCommand(payouts, 'fail', 'fail a payout; the client is refunded amount and fees')
    .argument('<id>', 'the payout')
    .option('--code <code>', 'failure_code shown to the client')
    .option('--reason <text>', 'failure_reason shown to the client')
    .action(
      move((tx, moving, world, payout, details, { code, reason }: { code?: string; reason?: string }) =>
        applyEvent(tx, moving, world, payout, 'failed', { ...details, failureCode: code, failureReason: reason }),
      ),
    )
  dataCommand(payouts, 'return', 'return a completed payout; the client is refunded the amount without fees')
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
  administer(({ world, reference, isSandbox, write }, id: string, options: Options) =>
    write((tx) => {
      const details: EventDetails = { actorType: 'operator', nowMs: world.clock.nowMs() }
      const moving = { reference, byClock: () => isSandbox, stepByClock: isSandbox ? sandboxStep : undefined }
      const moved = by(tx, moving, world, getPayout(tx, id), details, options)
      return payoutRow(reference, clientNamesById(tx), moved)
    }),
  )

const getPayout = (query: Query, id: string): Payout => {
  const payout = findAnyPayout(query, id)
  if (!payout) throw refused(`There is no payout ${id}: see scrip payouts list.`)
  return payout
}

const payoutRow = (reference: Reference, names: ReadonlyMap<number, string>, payout: Payout): Row => {
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

const payeeOf = (payout: Payout): Row => ({
  beneficiary_first_name: payout.beneficiaryFirstName,
  beneficiary_last_name: payout.beneficiaryLastName,
  beneficiary_country: payout.beneficiaryCountry,
  beneficiary_phone: payout.beneficiaryPhone,
  beneficiary_identifiers: payout.beneficiaryIdentifiers,
  description: payout.description,
})
