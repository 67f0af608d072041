import { recordPayout } from '../beneficiaries/queries.ts'
import type { Tx } from '../db/database.ts'
import type { EventContext } from '../events/publish.ts'
import { foundOr } from '../kernel/failure.ts'
import { keptRate } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { WALLET_NOT_FOUND } from '../wallets/contract.ts'
import { type Conversion, type Line, moveWallet, refund, reserve, settle } from '../wallets/ledger.ts'
import { findWallet, type Wallet } from '../wallets/queries.ts'
import type { MoneyEffect } from './states.ts'
import type { Payout } from './tables.ts'

/** The ledger entries of a payout (contract C13). */

/** @throws DomainError insufficient_balance or amount_too_large */
export const reservePayout = (tx: Tx, context: EventContext, wallet: Wallet, payout: Payout): void => {
  const { id: sourceId, referenceId: remarks, paidMinor, createdAtMs: nowMs } = payout
  const conversion = conversionOf(context.reference, wallet, payout)
  reserve(tx, context, wallet, { sourceType: 'payout', sourceId, remarks, nowMs, conversion }, paidMinor)
}

export const movePayoutMoney = (
  tx: Tx,
  context: EventContext,
  effect: MoneyEffect | undefined,
  payout: Payout,
  nowMs: number,
): void => {
  if (!effect) return
  const { id: sourceId, clientId, beneficiaryId, beneficiaryTotalMinor, paidMinor } = payout
  const wallet = foundOr(findWallet(tx, clientId, payout.walletId), WALLET_NOT_FOUND)
  if (effect === 'pay') {
    settle(tx, wallet, { sourceType: 'payout', sourceId, nowMs }, paidMinor, paidLines(wallet, payout))
    if (beneficiaryId === null) return
    recordPayout(tx, clientId, { beneficiaryId, amountMinor: beneficiaryTotalMinor, completedAtMs: nowMs })
    return
  }
  // A refund, before completion, gives back everything; a return, after it, only the amount.
  const remarks = `${payout.referenceId} ${effect === 'return' ? 'returned' : payout.status}`
  const conversion = conversionOf(context.reference, wallet, payout)
  const cause = { sourceType: 'refund', sourceId, remarks, nowMs, conversion } as const
  if (effect === 'refund') {
    refund(tx, context, wallet, cause, paidMinor)
    return
  }
  const returned = { ...cause, conversion: conversion && { ...conversion, conversionMinor: 0 } }
  moveWallet(tx, context, wallet, returned, payout.paidAmountMinor, payoutLines(wallet, payout, -1))
}

/** The amount belongs to the beneficiary, the rest to fees and conversion. */
const paidLines = (wallet: Wallet, payout: Payout): Line[] => {
  const conversionMinor = payout.paidConversionMinor ?? 0
  const feesMinor = payout.paidMinor - payout.paidAmountMinor - conversionMinor // derived, so that the lines add up
  return [
    ...payoutLines(wallet, payout, 1),
    { account: 'fees', currencyId: wallet.currencyId, amountMinor: feesMinor },
    { account: 'conversion', currencyId: wallet.currencyId, amountMinor: conversionMinor },
  ]
}

/** Lines that pay the amount or take it back, through the exchange account if currencies differ. */
const payoutLines = (wallet: Wallet, { currencyId, amountMinor, paidAmountMinor }: Payout, sign: 1 | -1): Line[] =>
  wallet.currencyId === currencyId
    ? [{ account: 'payouts', currencyId, amountMinor: sign * amountMinor }]
    : [
        { account: 'exchange', currencyId: wallet.currencyId, amountMinor: sign * paidAmountMinor },
        { account: 'exchange', currencyId, amountMinor: -sign * amountMinor },
        { account: 'payouts', currencyId, amountMinor: sign * amountMinor },
      ]

/** The conversion at the payout's original rate. */
const conversionOf = (reference: Reference, wallet: Wallet, payout: Payout): Conversion | undefined => {
  const rate = keptRate(payout)
  return (
    rate && {
      sourceCurrency: reference.getCurrency(payout.currencyId).currency,
      destinationCurrency: reference.getCurrency(wallet.currencyId).currency,
      rate,
      conversionMinor: payout.paidConversionMinor ?? 0,
    }
  )
}
