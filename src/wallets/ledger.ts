import type { Tx } from '../db/database.ts'
import { searchText } from '../db/lists.ts'
import type { EventContext } from '../events/publish.ts'
import { DomainError } from '../kernel/failure.ts'
import { plus, type Rate } from '../kernel/money.ts'
import { INSUFFICIENT_BALANCE } from './contract.ts'
import { insertEntry, insertLine, insertTransaction, moveBalance } from './ledger-queries.ts'
import { publishWallet } from './publish.ts'
import type { Wallet } from './queries.ts'
import type { ACCOUNTS, SOURCE_TYPES } from './tables.ts'

/** The double-entry ledger (contract C11). The lines of an entry sum to zero in each currency, and no line is ever updated. */

/** A line of an account of the program, in signed minor units. */
export interface Line {
  account: Exclude<(typeof ACCOUNTS)[number], 'wallet' | 'reserved'>
  currencyId: number
  amountMinor: number
}

/** The changes of the two balances of a wallet, in signed minor units. */
interface Movement {
  spendableMinor: number
  reservedMinor: number
}

export interface Cause {
  sourceType: (typeof SOURCE_TYPES)[number]
  sourceId: string | null
  remarks: string | null
  nowMs: number
  conversion?: Conversion | undefined
}

/** The cause of an entry without a transaction of the wallet. */
type UnrecordedCause = Omit<Cause, 'remarks' | 'conversion'>

/** The conversion of an amount to the currency of the wallet (contract C9). */
export interface Conversion {
  sourceCurrency: string
  destinationCurrency: string
  rate: Rate
  conversionMinor: number
}

/** Writes an entry, moves the balance of its wallet, and returns the changed wallet. Lines of 0 are left out. */
const post = (tx: Tx, wallet: Wallet, cause: UnrecordedCause, movement: Movement, against: readonly Line[]) => {
  const { id: walletId, currencyId, thresholdMinor } = wallet
  const walletLines = [
    { account: 'wallet', walletId, currencyId, amountMinor: movement.spendableMinor },
    { account: 'reserved', walletId, currencyId, amountMinor: movement.reservedMinor },
  ] as const
  const lines = [...walletLines, ...against.map((line) => ({ walletId: null, ...line }))].filter(
    ({ amountMinor }) => amountMinor !== 0,
  )
  assertBalanced(lines)
  for (const line of lines) insertLine(tx, line)
  const { sourceType, sourceId, nowMs } = cause
  const entryId = insertEntry(tx, { sourceType, sourceId, createdAtMs: nowMs })
  moveBalance(tx).run({ id: walletId, ...movement, nowMs })
  const amountMinor = wallet.amountMinor + movement.spendableMinor
  const reservedMinor = wallet.reservedMinor + movement.reservedMinor
  const isLow = thresholdMinor !== null && amountMinor < thresholdMinor
  return { entryId, moved: { ...wallet, amountMinor, reservedMinor, isLow, updatedAtMs: nowMs } }
}

/** The result of a movement: its transaction, and the changed wallet. */
interface Moved {
  transactionId: number
  wallet: Wallet
}

/**
 * Moves money, records the transaction, and publishes it if there is a context. The database refuses a wallet that was
 * read before this transaction and has changed since.
 * @throws DomainError insufficient_balance or amount_too_large
 */
const move = (
  tx: Tx,
  context: EventContext | undefined,
  wallet: Wallet,
  cause: Cause,
  movement: Movement,
  against: readonly Line[] = [],
): Moved => {
  const amountMinor = movement.spendableMinor
  const balanceAfterMinor = plus(wallet.amountMinor, amountMinor)
  if (amountMinor < 0 && balanceAfterMinor < -wallet.creditLimitMinor) {
    throw new DomainError(INSUFFICIENT_BALANCE)
  }
  plus(wallet.reservedMinor, movement.reservedMinor, balanceAfterMinor) // the sum must have an amount, so that every refund has one
  const { entryId, moved } = post(tx, wallet, cause, movement, against)
  const { conversion, nowMs, sourceId } = cause
  const transactionId = insertTransaction(tx, {
    walletId: wallet.id,
    clientId: wallet.clientId,
    currencyId: wallet.currencyId,
    entryId,
    amountMinor: Math.abs(amountMinor),
    transactionType: amountMinor < 0 ? 'DEBIT' : 'CREDIT',
    status: 'COMPLETED',
    sourceCurrency: conversion?.sourceCurrency ?? null,
    destinationCurrency: conversion?.destinationCurrency ?? null,
    sourceRateE8: conversion?.rate.sourceRateE8 ?? null,
    destinationRateE8: conversion?.rate.destinationRateE8 ?? null,
    conversionMinor: conversion?.conversionMinor ?? null,
    balanceAfterMinor,
    sourceType: cause.sourceType,
    sourceId,
    remarks: cause.remarks,
    createdAtMs: nowMs,
    searchLowerCase: searchText(cause.sourceId, cause.remarks),
  })
  if (context) {
    publishWallet(tx, context, moved, amountMinor < 0 ? 'debited' : 'credited', nowMs)
    if (moved.isLow && !wallet.isLow) publishWallet(tx, context, moved, 'low', nowMs)
  }
  return { transactionId, wallet: moved }
}

/**
 * Moves money against accounts of the program: a debit if the amount is negative.
 * @throws DomainError insufficient_balance or amount_too_large
 */
export const moveWallet = (
  tx: Tx,
  context: EventContext,
  wallet: Wallet,
  cause: Cause,
  amountMinor: number,
  against: readonly Line[],
) => move(tx, context, wallet, cause, { spendableMinor: amountMinor, reservedMinor: 0 }, against)

/**
 * Reserves the payment of the wallet until the order or payout is settled or refunded.
 * @throws DomainError insufficient_balance, also when the wallet is closed, or amount_too_large
 */
export const reserve = (tx: Tx, context: EventContext, wallet: Wallet, cause: Cause, amountMinor: number) => {
  if (wallet.closedAtMs !== null) throw new DomainError(INSUFFICIENT_BALANCE)
  return move(tx, context, wallet, cause, { spendableMinor: -amountMinor, reservedMinor: amountMinor })
}

export const refund = (tx: Tx, context: EventContext, wallet: Wallet, cause: Cause, amountMinor: number) =>
  move(tx, context, wallet, cause, { spendableMinor: amountMinor, reservedMinor: -amountMinor })

/** Books reserved money. The lines sum to the amount, in the wallet's currency. Returns the changed wallet. */
export const settle = (
  tx: Tx,
  wallet: Wallet,
  cause: UnrecordedCause,
  amountMinor: number,
  lines: readonly Line[],
): Wallet => post(tx, wallet, cause, { spendableMinor: 0, reservedMinor: -amountMinor }, lines).moved

/** A movement by an operator, against an account of the program. Without a context, as for seed data, nothing is published. */
const byOperator =
  (sourceType: Cause['sourceType'], account: Line['account']) =>
  (
    tx: Tx,
    context: EventContext | undefined,
    wallet: Wallet,
    amountMinor: number,
    cause: Pick<Cause, 'remarks' | 'nowMs'>,
  ): Moved => {
    const against: Line = { account, currencyId: wallet.currencyId, amountMinor: -amountMinor }
    const movement = { spendableMinor: amountMinor, reservedMinor: 0 }
    return move(tx, context, wallet, { sourceType, sourceId: null, ...cause }, movement, [against])
  }

/** Adds money to a wallet. @throws DomainError amount_too_large */
export const fund = byOperator('funding', 'funding')

/** Corrects a balance, up or down. @throws DomainError insufficient_balance or amount_too_large */
export const adjust = byOperator('adjustment', 'adjustments')

const assertBalanced = (lines: readonly Pick<Line, 'currencyId' | 'amountMinor'>[]): void => {
  const sums = new Map<number, number>()
  for (const { currencyId, amountMinor } of lines) sums.set(currencyId, plus(sums.get(currencyId) ?? 0, amountMinor))
  for (const [currencyId, sum] of sums) {
    if (sum !== 0) throw new Error(`the lines in currency ${currencyId} sum to ${sum}, not to zero`)
  }
}
