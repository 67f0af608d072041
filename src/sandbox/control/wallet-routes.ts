import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { DomainError, found, invalid, notFound, violated } from '../../kernel/failure.ts'
import { sizeFault, toMajor, toMinor } from '../../kernel/money.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { fund } from '../../wallets/ledger.ts'
import { findAnyWallet, openWallet } from '../../wallets/queries.ts'
import type { World } from '../../worlds/world.ts'
import type { Parts } from '../parts.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import * as operations from './operator-operations.ts'
import { CURRENCY_PROBLEM, type Funding, type NewWallet, type WalletState } from './operator-operations.ts'
import { presentWorld } from './present.ts'

export const operatorWalletRoutes = ({ reference, ...parts }: Parts) =>
  new Elysia({ name: 'sandbox-wallets' })
    .post(
      '/wallets',
      async ({ query, body, set }) => {
        const world = await presentWorld(parts, query.world)
        const wallet = await openFor(world, reference, body)
        set.status = 201
        set.headers.Location = `/api/v1/wallets/${wallet.id}`
        return wallet
      },
      operations.openWallet,
    )
    .post(
      '/wallets/:id/fund',
      async ({ params, query, body }) => fundBy(await presentWorld(parts, query.world), reference, params.id, body),
      operations.fundWallet,
    )

/** @throws DomainError validation */
const openFor = async (
  world: World,
  reference: Reference,
  { currency: code, type = 'PREPAID', credit_limit: creditLimit = 0 }: Static<typeof NewWallet>,
): Promise<Static<typeof WalletState>> => {
  const currency = reference.findCurrencyByCode(code)
  if (!currency) throw violated('currency', 'enum', CURRENCY_PROBLEM)
  const creditLimitMinor = minorOf('credit_limit', creditLimit, currency)
  if (type === 'PREPAID' && creditLimitMinor > 0)
    throw violated('credit_limit', 'max', 'must be 0 for a PREPAID wallet')
  const opened = { clientId: SANDBOX_CLIENT_IDS.sandbox, currencyId: currency.id, type, creditLimitMinor }
  const wallet = await world.db.write((tx) => openWallet(tx, opened, world.clock.nowMs()))
  world.forgetDerived()
  return { id: wallet.id, currency: currency.currency, amount: 0 }
}

/** @throws DomainError validation or not_found */
const fundBy = async (
  world: World,
  reference: Reference,
  id: number,
  { amount, remarks }: Static<typeof Funding>,
): Promise<Static<typeof WalletState>> => {
  const wanted = findAnyWallet(world.db.query, id)
  const fault = sizeFault(amount, wanted ? reference.getCurrency(wanted.currencyId).precision : 0)
  if (fault) throw new DomainError(invalid([{ field: 'amount', ...fault }]))
  const wallet = found(wanted, notFound('Wallet'))
  const currency = reference.getCurrency(wallet.currencyId)
  const amountMinor = minorOf('amount', amount, currency)
  const funded = await world.db.write((tx) => fund(tx, wallet, amountMinor, remarks ?? null, world.clock.nowMs()))
  return { id, currency: currency.currency, amount: toMajor(funded.balanceAfterMinor, currency.precision) }
}

const minorOf = (field: string, amount: number, { currency, precision }: Currency): number => {
  const minor = toMinor(amount, precision)
  if (minor === undefined) throw violated(field, 'format', `must have at most the ${precision} decimals of ${currency}`)
  return minor
}
