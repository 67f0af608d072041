import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../../http/legacy-operation.ts'
import { CREATED_HEADERS } from '../../http/operation.ts'
import { idPath } from '../../http/parameters.ts'
import { pathId } from '../../http/query.ts'
import { oneOf } from '../../http/schemas.ts'
import { bodyCheck } from '../../http/validation.ts'
import { DomainError, found, violated } from '../../kernel/failure.ts'
import { sizeFault, toMajor, toMinor } from '../../kernel/money.ts'
import type { Currency, Reference } from '../../reference/reference.ts'
import { fund } from '../../wallets/ledger.ts'
import { findWallet, openWallet } from '../../wallets/queries.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import { bodyRefusals, readControl, WorldQuery } from './control.ts'
import { findOfEither, type OperatorOptions, presentWorldOf } from './records.ts'

const WalletBody = Type.Object(
  {
    currency: Type.String({ description: 'ISO 4217' }),
    type: Type.Optional(oneOf(['PREPAID', 'POSTPAID'], { default: 'PREPAID' })),
    credit_limit: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
  },
  { title: 'SandboxWalletRequest' },
)
const FundBody = Type.Object(
  {
    amount: Type.Number({ description: 'More than 0, and at most 1,000,000,000' }),
    remarks: Type.Optional(Type.String({ maxLength: 1_000 })),
  },
  { title: 'FundRequest' },
)
const checkWallet = bodyCheck(WalletBody)
const checkFund = bodyCheck(FundBody)
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
      async ({ request, set }) => {
        const world = await presentWorldOf(operator, request)
        const body = await readControl(request, WalletBody, checkWallet)
        const currency = reference.findCurrencyByCode(body.currency)
        if (!currency) throw violated('currency', 'enum', CURRENCY_PROBLEM)
        const creditLimitMinor = minorOf('credit_limit', body.credit_limit ?? 0, currency)
        const { type = 'PREPAID' } = body
        if (type === 'PREPAID' && creditLimitMinor > 0)
          throw violated('credit_limit', 'max', 'must be 0 for a PREPAID wallet')
        const wallet = await world.db.write((tx) =>
          openWallet(
            tx,
            { clientId: SANDBOX_CLIENT_IDS.sandbox, currencyId: currency.id, type, creditLimitMinor },
            world.clock.nowMs(),
          ),
        )
        world.forgetDerived()
        set.status = 201
        set.headers.Location = `/api/v1/wallets/${wallet.id}`
        return { id: wallet.id, currency: currency.currency, amount: 0 }
      },
      documented({
        id: 'openWallet',
        tag: 'Sandbox',
        summary: 'Open a wallet for the sandbox client of a world',
        description: 'Empty at first, and prepaid unless told otherwise.',
        public: true,
        query: WorldQuery,
        body: { schema: WalletBody, example: { currency: 'KWD', type: 'POSTPAID', credit_limit: 100 } },
        success: {
          status: 201,
          description: 'The wallet, empty',
          schema: WalletState,
          example: { id: 6, currency: 'KWD', amount: 0 },
          headers: CREATED_HEADERS,
        },
        refusals: bodyRefusals('wallet_open', { field: 'currency', rule: 'enum', problem: CURRENCY_PROBLEM }),
      }),
    )
    .post(
      '/wallets/:id/fund',
      async ({ params, request }) => {
        const world = await presentWorldOf(operator, request)
        const id = pathId(params.id, 'wallet')
        const { amount, remarks } = await readControl(request, FundBody, checkFund)
        const wanted = findOfEither((clientId) => findWallet(world.db.query, clientId, id))
        const fault = sizeFault(amount, wanted ? reference.getCurrency(wanted.currencyId).precision : 0)
        if (fault) throw new DomainError({ code: 'validation', violations: [{ field: 'amount', ...fault }] })
        const wallet = found(wanted, 'wallet')
        const currency = reference.getCurrency(wallet.currencyId)
        const amountMinor = minorOf('amount', amount, currency)
        const funded = await world.db.write((tx) => fund(tx, wallet, amountMinor, remarks ?? null, world.clock.nowMs()))
        return { id, currency: currency.currency, amount: toMajor(funded.balanceAfterMinor, currency.precision) }
      },
      documented({
        id: 'fundWallet',
        tag: 'Sandbox',
        summary: 'Fund a wallet',
        description: 'The amount is booked as a transaction, as if money had been sent.',
        public: true,
        path: idPath('wallet'),
        query: WorldQuery,
        body: { schema: FundBody, example: { amount: 250, remarks: 'Top-up' } },
        success: {
          status: 200,
          description: 'The wallet with its new amount',
          schema: WalletState,
          example: { id: 1, currency: 'USD', amount: 100_250 },
        },
        refusals: {
          ...bodyRefusals('wallet_fund', { field: 'amount', rule: 'required', problem: 'is required' }),
          'wallet_fund.invalid_id': { code: 'invalid_id', resource: 'wallet' },
          'wallet_fund.not_found': { code: 'not_found', resource: 'wallet' },
        },
      }),
    )

const minorOf = (field: string, amount: number, { currency, precision }: Currency): number => {
  const minor = toMinor(amount, precision)
  if (minor === undefined) throw violated(field, 'format', `must have at most the ${precision} decimals of ${currency}`)
  return minor
}
