import { Type } from '@sinclair/typebox'
import { minorOf } from '../../acts/fields.ts'
import { WALLET, walletActs } from '../../acts/wallets.ts'
import { idPath } from '../../http/parameters.ts'
import { Id, nullable, oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/validation.ts'
import { violated, violation } from '../../kernel/failure.ts'
import { toMajor } from '../../kernel/money.ts'
import type { Reference } from '../../reference/reference.ts'
import { findEnabledClient } from '../../sessions/queries.ts'
import { openWallet, type Wallet } from '../../wallets/queries.ts'
import type { Parts } from '../parts.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import { controlRoutes } from './operation.ts'
import { presentWorld, stepRoutes } from './steps.ts'

/** Wallets as a test opens and fills them (contract C15). */

const walletFields = { id: Type.Integer(), currency: Type.String(), amount: Type.Number() }
const WalletState = Type.Object(walletFields, { title: 'WalletState' })
const WalletThreshold = Type.Object(
  { ...walletFields, threshold: nullable(Type.Number()) },
  { title: 'WalletThreshold' },
)

const CLIENT_PROBLEM = 'must be the id of a client of this world'
const CURRENCY_PROBLEM = 'must be the ISO 4217 code of a circulating currency'

export const walletRoutes = (parts: Parts) => {
  const { fund, threshold } = walletActs
  const stepping = { kind: WALLET, params: idPath('wallet'), example: 1 }
  const moved = { description: 'The wallet with its new amount', schema: WalletState }
  const updated = { description: 'The wallet with its threshold', schema: WalletThreshold }
  const routes = openingRoutes(parts)
  stepRoutes(parts, { ...stepping, acts: { fund }, response: moved, wire: stateOf }, routes)
  return stepRoutes(parts, { ...stepping, acts: { threshold }, response: updated, wire: thresholdOf }, routes)
}

const openingRoutes = (parts: Parts) =>
  controlRoutes().post(
    '/wallets',
    async ({ query, body, set }) => {
      const { currency: code, type = 'PREPAID', credit_limit: creditLimit = 0 } = body
      const { client_id: clientId = SANDBOX_CLIENT_IDS.sandbox } = body
      const world = await presentWorld(parts, query.world)
      const currency = parts.reference.findCurrencyByCode(code)
      if (!currency) throw violated('currency', 'enum', CURRENCY_PROBLEM)
      const creditLimitMinor = minorOf('credit_limit', creditLimit, currency)
      if (type === 'PREPAID' && creditLimitMinor > 0) {
        throw violated('credit_limit', 'max', 'must be 0 for a PREPAID wallet')
      }
      if (!findEnabledClient(world.db.query, clientId)) throw violated('client_id', 'enum', CLIENT_PROBLEM)
      const opened = { clientId, currencyId: currency.id, type, creditLimitMinor }
      const { id } = await world.db.write((tx) => openWallet(tx, opened, world.clock.nowMs()))
      world.forgetDerived()
      set.headers.Location = `/api/v1/wallets/${id}`
      return { id, currency: currency.currency, amount: 0 }
    },
    {
      id: 'openWallet',
      summary: 'Open a wallet for a client of a world',
      description: 'Empty at first, and prepaid by default.',
      names: 'wallet_open.',
      body: Type.Object(
        {
          currency: Text({ description: 'ISO 4217' }),
          client_id: Type.Optional({ ...Id, description: 'The client that owns it; by default sandbox' }),
          type: Type.Optional(oneOf<'PREPAID' | 'POSTPAID'>(['PREPAID', 'POSTPAID'], { default: 'PREPAID' })),
          credit_limit: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
        },
        { title: 'SandboxWalletRequest' },
      ),
      bodyExample: { currency: 'KWD', type: 'POSTPAID', credit_limit: 100 },
      response: {
        status: 201,
        description: 'The wallet, empty',
        schema: WalletState,
        example: { id: 6, currency: 'KWD', amount: 0 },
      },
      refuses: { validation: violation('currency', 'enum', CURRENCY_PROBLEM) },
    },
  )

const stateOf = ({ id, currencyId, amountMinor }: Wallet, reference: Reference) => {
  const { currency, precision } = reference.shownCurrency(currencyId)
  return { id, currency, amount: toMajor(amountMinor, precision) }
}

const thresholdOf = (wallet: Wallet, reference: Reference) => {
  const { thresholdMinor, currencyId } = wallet
  const { precision } = reference.shownCurrency(currencyId)
  return {
    ...stateOf(wallet, reference),
    threshold: thresholdMinor === null ? null : toMajor(thresholdMinor, precision),
  }
}
