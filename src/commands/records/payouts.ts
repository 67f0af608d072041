import type { Command } from 'commander'
import type { Acts } from '../../acts/act.ts'
import type { Kind, Shown } from '../../acts/kind.ts'
import type { Tx } from '../../db/database.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { cancelPayout } from '../../payouts/payouts.ts'
import { ADVANCE_TARGETS, advance, applyEvent, type EventDetails, type Moving } from '../../payouts/progress.ts'
import { findAnyPayout, PAYOUT_STATUSES, type Payout, payoutsOf } from '../../payouts/queries.ts'
import type { World } from '../../worlds/world.ts'
import { acting } from '../acts/ask.ts'
import { choiceOption } from '../arguments.ts'
import { change, list, listCommand, moneyCommand, recordCommand, show } from './records.ts'

/** `scrip payouts`: payouts that an operator advances in live mode (contract C13). */
export const payoutCommands = (payouts: Command): void => {
  const act = acting(payoutActs)
  const narrowable = { client: true, times: 'created', statuses: PAYOUT_STATUSES } as const
  listCommand(payouts.command('list'), 'list the payouts of all clients, newest first', narrowable).action(
    list({ ...COLUMNS, ...PAYEE }, payoutsOf),
  )
  recordCommand(payouts, PAYOUT, 'show', 'show a payout and its beneficiary').action(show(PAYOUT))
  moneyCommand(payouts, PAYOUT, 'advance', 'move a payout to its next status, or on to a given one')
    .addOption(choiceOption('--to <status>', 'the status to reach', ADVANCE_TARGETS))
    .action(act)
  moneyCommand(payouts, PAYOUT, 'fail', 'fail a payout; the client is refunded amount and fees')
    .option('--code <code>', 'failure_code shown to the client')
    .option('--reason <text>', 'failure_reason shown to the client')
    .action(act)
  const cancelled = 'cancel a payout that is not submitted yet; the client is refunded amount and fees'
  moneyCommand(payouts, PAYOUT, 'cancel', cancelled).action(act)
  const returned = 'return a completed payout; the client is refunded the amount without fees'
  moneyCommand(payouts, PAYOUT, 'return', returned).action(act)
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
  change(PAYOUT, (tx, payout, { world, reference }, options: Options) => {
    const moving = { reference, byClock: () => false }
    by(tx, moving, world, payout, { actorType: 'operator', nowMs: world.clock.nowMs() }, options)
  })

/** What a change does not repeat. */
const PAYEE: Shown<Payout> = {
  beneficiary_first_name: ({ beneficiaryFirstName }) => beneficiaryFirstName,
  beneficiary_last_name: ({ beneficiaryLastName }) => beneficiaryLastName,
  beneficiary_country: ({ beneficiaryCountry }) => beneficiaryCountry,
  beneficiary_phone: ({ beneficiaryPhone }) => beneficiaryPhone,
  beneficiary_identifiers: ({ beneficiaryIdentifiers }) => beneficiaryIdentifiers,
  description: ({ description }) => description,
}

const PROGRESS: Shown<Payout> = {
  submitted: ({ submittedAtMs }) => submittedAtMs !== null,
  returned: ({ returned }) => returned,
}

/** For the audit, which contains no names. */
const STATE: Shown<Payout> = { status: ({ status }) => status, ...PROGRESS }

const COLUMNS: Shown<Payout> = {
  id: ({ id }) => id,
  client: ({ clientId }, { clientName }) => clientName(clientId),
  status: ({ status }) => status,
  amount: ({ amountMinor, currencyId }, { amount }) => amount(amountMinor, currencyId),
  currency: ({ currencyId }, { currency }) => currency(currencyId).currency,
  beneficiary: ({ beneficiaryEmail }) => beneficiaryEmail,
  reference_id: ({ referenceId }) => referenceId,
  ...PROGRESS,
  failure_reason: ({ failureReason }) => failureReason,
  created_at: ({ createdAtMs }) => toTimestamp(createdAtMs),
}

export const PAYOUT: Kind<string, Payout> = {
  name: 'payout',
  group: 'payouts',
  argument: ['<id>', 'the payout'],
  find: findAnyPayout,
  columns: COLUMNS,
  details: { ...COLUMNS, ...PAYEE },
  audited: STATE,
  remedyOf: ({ id, status }) =>
    status === 'completed' ? `scrip payouts return ${id} gives its money back.` : `See scrip payouts show ${id}.`,
}

export const payoutActs: Acts = {
  'payouts advance': move((tx, moving, world, payout, details, { to }: { to?: (typeof ADVANCE_TARGETS)[number] }) =>
    advance(tx, moving, world, payout, to, details),
  ),
  'payouts fail': move((tx, moving, world, payout, details, { code, reason }: { code?: string; reason?: string }) =>
    applyEvent(tx, moving, world, payout, 'failed', { ...details, failureCode: code, failureReason: reason }),
  ),
  'payouts cancel': move((tx, moving, world, payout, { actorType }) =>
    cancelPayout(tx, moving, world, payout, actorType),
  ),
  'payouts return': move((tx, moving, world, payout, details) =>
    applyEvent(tx, moving, world, payout, 'returned', details),
  ),
}
