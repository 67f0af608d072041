import { Type } from '@sinclair/typebox'
import { WALLET, walletActs } from '../../acts/wallets.ts'
import { idPath } from '../../http/parameters.ts'
import { nullable, oneOf } from '../../http/schemas.ts'
import { toMajor } from '../../kernel/money.ts'
import type { Reference } from '../../reference/reference.ts'
import type { Wallet } from '../../wallets/queries.ts'
import type { Parts } from '../parts.ts'
import { SANDBOX_CLIENT_IDS } from '../seed/accounts.ts'
import { controlRoutes } from './operation.ts'
import { actRoute, stepRoutes, stepsOn } from './steps.ts'

/** Wallets as a test opens and fills them (contract C15). */

const walletFields = { id: Type.Integer(), currency: Type.String(), amount: Type.Number() }
const WalletState = Type.Object(walletFields, { title: 'WalletState' })
const WalletThreshold = Type.Object(
  { ...walletFields, threshold: nullable(Type.Number()) },
  { title: 'WalletThreshold' },
)

const WalletType = oneOf<'PREPAID' | 'POSTPAID'>(['PREPAID', 'POSTPAID'], { default: 'PREPAID' })

export const walletRoutes = (parts: Parts) => {
  const { threshold, ...others } = walletActs
  const stepping = { params: idPath('wallet'), example: { id: 1, currency: 'USD', amount: 100_000 } }
  const moved = { description: 'The wallet with its new amount', schema: WalletState }
  const updated = { description: 'The wallet with its threshold', schema: WalletThreshold }
  const example = { ...stepping.example, threshold: 500 }
  const routes = openingRoutes(parts)
  stepRoutes(parts, stepsOn(WALLET, others), { ...stepping, response: moved, wire: stateOf }, routes)
  return stepRoutes(parts, [threshold], { ...stepping, example, response: updated, wire: thresholdOf }, routes)
}

const openingRoutes = (parts: Parts) =>
  actRoute(parts, controlRoutes(), {
    ...walletActs.add,
    members: Type.Object({ type: Type.Optional(WalletType) }),
    by: (tx, { client = SANDBOX_CLIENT_IDS.sandbox, type = 'PREPAID', ...opened }, context) =>
      walletActs.add.by(tx, { ...opened, client, type }, context),
    response: {
      status: 201,
      description: 'The wallet, empty',
      schema: WalletState,
      example: { id: 6, currency: 'KWD', amount: 0 },
    },
    onDone: (world) => world.forgetDerived(),
    wire: (wallet) => stateOf(wallet, parts.reference),
    location: ({ id }) => `/api/v1/wallets/${id}`,
  })

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
