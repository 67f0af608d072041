import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { invalidId } from '../../http/failures.ts'
import { CREATED_HEADERS } from '../../http/operation.ts'
import { idPath } from '../../http/parameters.ts'
import { oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { DomainError, found, invalid, notFound, violated } from '../../kernel/failure.ts'
import { sizeFault, toMajor, toMinor } from '../../kernel/money.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { fund } from '../../wallets/ledger.ts'
import { findAnyWallet, openWallet } from '../../wallets/queries.ts'
import type { World } from '../../worlds/world.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import { WorldQuery } from '../worlds/model.ts'
import { bodyErrors, controlOperation } from './operation.ts'
import { type OperatorOptions, presentWorld } from './present.ts'

const NewWallet = Type.Object(
  {
    currency: Text({ description: 'ISO 4217' }),
    type: Type.Optional(oneOf<'PREPAID' | 'POSTPAID'>(['PREPAID', 'POSTPAID'], { default: 'PREPAID' })),
    credit_limit: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
  },
  { title: 'SandboxWalletRequest' },
)
const Funding = Type.Object(
  {
    amount: Type.Number({ description: 'More than 0, and at most 1,000,000,000' }),
    remarks: Type.Optional(Text({ maxLength: 1_000 })),
  },
  { title: 'FundRequest' },
)
const WalletState = Type.Object(
  { id: Type.Integer(), currency: Type.String(), amount: Type.Number() },
  { title: 'WalletState' },
)

const CURRENCY_PROBLEM = 'must be the ISO 4217 code of a circulating currency'

export interface WalletRoutesOptions extends OperatorOptions {
  reference: Reference
}

export const operatorWalletRoutes = ({ reference, ...operator }: WalletRoutesOptions) =>
  new Elysia({ name: 'sandbox-wallets' })
    .post(
      '/wallets',
      async ({ query, body, set }) => {
        const world = await presentWorld(operator, query.world)
        const wallet = await openFor(world, reference, body)
        set.status = 201
        set.headers.Location = `/api/v1/wallets/${wallet.id}`
        return wallet
      },
      controlOperation({
        id: 'openWallet',
        summary: 'Open a wallet for the sandbox client of a world',
        description: 'Empty at first, and prepaid unless told otherwise.',
        query: WorldQuery,
        body: NewWallet,
        bodyExample: { currency: 'KWD', type: 'POSTPAID', credit_limit: 100 },
        success: {
          status: 201,
          description: 'The wallet, empty',
          schema: WalletState,
          example: { id: 6, currency: 'KWD', amount: 0 },
          headers: CREATED_HEADERS,
        },
        errors: bodyErrors('wallet_open', { field: 'currency', rule: 'enum', problem: CURRENCY_PROBLEM }),
      }),
    )
    .post(
      '/wallets/:id/fund',
      async ({ params, query, body }) => fundBy(await presentWorld(operator, query.world), reference, params.id, body),
      controlOperation({
        id: 'fundWallet',
        summary: 'Fund a wallet',
        description: 'The amount is booked as a transaction, as if money had been sent.',
        params: idPath('wallet'),
        query: WorldQuery,
        body: Funding,
        bodyExample: { amount: 250, remarks: 'Top-up' },
        success: {
          status: 200,
          description: 'The wallet with its new amount',
          schema: WalletState,
          example: { id: 1, currency: 'USD', amount: 100_250 },
        },
        errors: {
          ...bodyErrors('wallet_fund', { field: 'amount', rule: 'required', problem: 'is required' }),
          'wallet_fund.invalid_id': invalidId('wallet'),
          'wallet_fund.not_found': notFound('Wallet'),
        },
      }),
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
