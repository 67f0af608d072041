import { recordPayout } from '../beneficiaries/queries.ts'
import type { Tx } from '../db/database.ts'
import type { EventContext } from '../events/publish.ts'
import { foundOr } from '../kernel/failure.ts'
import type { Reference } from '../reference/reference.ts'
import { WALLET_NOT_FOUND } from '../wallets/contract.ts'
import { type Conversion, type Line, moveWallet, refund, reserve, settle } from '../wallets/ledger.ts'
import { findWallet, type Wallet } from '../wallets/queries.ts'
import type { Payout } from './tables.ts'
import type { MoneyEffect } from './transitions.ts'

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
  effect: MoneyEffect,
  payout: Payout,
  nowMs: number,
): void => {
  if (effect === 'none') return
  const wallet = foundOr(findWallet(tx, payout.clientId, payout.walletId), WALLET_NOT_FOUND)
  if (effect === 'pay') pay(tx, wallet, payout, nowMs)
  else giveBack(tx, context, wallet, effect, payout, nowMs)
}

const pay = (tx: Tx, wallet: Wallet, payout: Payout, nowMs: number): void => {
  const cause = { sourceType: 'payout', sourceId: payout.id, nowMs } as const
  settle(tx, wallet, cause, payout.paidMinor, paidLines(wallet, payout))
  if (payout.beneficiaryId === null) return
  recordPayout(tx, payout.clientId, {
    beneficiaryId: payout.beneficiaryId,
    amountMinor: payout.beneficiaryTotalMinor,
    completedAtMs: nowMs,
  })
}

/** A refund, before completion, gives back everything; a return, after it, only the amount. */
const giveBack = (
  tx: Tx,
  context: EventContext,
  wallet: Wallet,
  effect: 'refund' | 'return',
  payout: Payout,
  nowMs: number,
): void => {
  const reason = effect === 'return' ? 'returned' : payout.status
  const remarks = `${payout.referenceId} ${reason}`
  const cause = { sourceType: 'refund', sourceId: payout.id, remarks, nowMs } as const
  const conversion = conversionOf(context.reference, wallet, payout)
  if (effect === 'refund') {
    refund(tx, context, wallet, { ...cause, conversion }, payout.paidMinor)
  } else {
    const returned = { ...cause, conversion: conversion && { ...conversion, conversionMinor: 0 } }
    moveWallet(tx, context, wallet, returned, payout.paidAmountMinor, payoutLines(wallet, payout, -1))
  }
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
const conversionOf = (reference: Reference, wallet: Wallet, payout: Payout): Conversion | undefined =>
  payout.rateE8 === null
    ? undefined
    : {
        sourceCurrency: reference.getCurrency(payout.currencyId).currency,
        destinationCurrency: reference.getCurrency(wallet.currencyId).currency,
        rateE8: payout.rateE8,
        conversionMinor: payout.paidConversionMinor ?? 0,
      }
