import fc from 'fast-check'
import { badRequest, faultsIn, invalid, isPathId, notFound } from '../expect.ts'
import { currencyOf } from '../goods.ts'
import { fund, setThreshold, type Wallet, type World } from '../model.ts'
import { majorOf, minorOf } from '../money.ts'
import { command, pathIds, worldNames } from './command.ts'
import { listing, request } from './request.ts'

/** Wallets and their transactions (contract C11), and the operator who opens and funds them (contract C15). */

const LIST = { limitDefault: 50, limitMax: 10_000, six: true } as const

const membersOf = (world: World, wallet: Wallet): Record<string, unknown> => ({
  id: wallet.id,
  currency_id: currencyOf(wallet.currency).id,
  currency_code: wallet.currency,
  amount: majorOf(wallet.amount, wallet.currency),
  reserved_amount: majorOf(wallet.reserved, wallet.currency),
  type: wallet.type,
  credit_limit: majorOf(wallet.creditLimit, wallet.currency),
  is_default: world.state.wallets.find(({ client }) => client === wallet.client) === wallet,
  is_active: true,
})
const walletFault = (json: unknown, world: World, wallet: Wallet): string | undefined => {
  const { created_at: _, updated_at: __, ...said } = json as Record<string, unknown>
  return faultsIn({ wallet: [said, membersOf(world, wallet)] })
}

const listWallets = listing('list the wallets', 'listWallets', {
  shape: 'structured',
  page: LIST,
  filters: {
    type: [['PREPAID', 'POSTPAID'], ['GIFT']],
    currency_id: [[String(currencyOf('USD').id), '2147483647'], ['USD']],
    currency: [
      ['USD', 'EUR', 'XXX'],
      ['usd', ''],
    ],
    is_active: [['true', 'false'], ['perhaps']],
  },
  ids: ({ world, client }, { type, currency_id, currency, is_active }) =>
    world.state.wallets
      .filter(
        (wallet) =>
          wallet.client === client &&
          (type === undefined || wallet.type === type) &&
          (currency_id === undefined || String(currencyOf(wallet.currency).id) === currency_id) &&
          (currency === undefined || wallet.currency === currency) &&
          is_active !== 'false',
      )
      .map(({ id }) => id)
      .toReversed(),
})

const getWallet = request(
  'get a wallet',
  'getWallet',
  3,
  { id: pathIds(6) },
  ({ id }) => ({ id }),
  ({ model, world, client }, { id }) => {
    if (!isPathId(id)) return badRequest('structured', 'Invalid wallet ID')
    const wallet = model.wallet(world, client, Number(id))
    if (!wallet) return notFound('structured', 'Wallet not found')
    return { status: 200, fault: ({ json }) => walletFault(json, world, wallet) }
  },
)

const listTransactions = listing('list the transactions', 'listTransactions', {
  shape: 'structured',
  page: LIST,
  filters: {
    wallet_id: [['1', '5', '2147483647'], ['0']],
    transaction_type: [['CREDIT', 'debit'], ['BOTH']],
    source_type: [['order', 'payout', 'refund', 'funding', 'adjustment'], ['gift']],
    currency: [['USD', 'JPY', 'XXX'], ['US']],
    status: [['COMPLETED', 'pending'], ['LOST']],
    created_from: [['2000-01-01T00:00:00Z'], ['yesterday']],
  },
  fault: ({ world, client, response }, { wallet_id, transaction_type, source_type, currency, status }) => {
    // The status of a movement depends on its payout or order: only the count of all is predicted.
    if (status !== undefined) return undefined
    const codes = new Map(world.state.wallets.map((wallet) => [wallet.id, wallet.currency]))
    const found = world.state.movements.filter(
      (movement) =>
        movement.client === client &&
        (wallet_id === undefined || String(movement.wallet) === wallet_id) &&
        (transaction_type === undefined || movement.amount > 0n === (transaction_type === 'CREDIT')) &&
        (source_type === undefined || movement.source === source_type) &&
        (currency === undefined || codes.get(movement.wallet) === currency),
    )
    return faultsIn({ 'x-total-count': [response.headers.get('x-total-count'), String(found.length)] })
  },
})

const getTransaction = request(
  'get a transaction',
  'getTransaction',
  2,
  { id: pathIds(12) },
  ({ id }) => ({ id }),
  ({ world, client }, { id }) => {
    if (!isPathId(id)) return badRequest('structured', 'Invalid transaction ID')
    const { movements, wallets } = world.state
    if (Number(id) > movements.length) return notFound('structured', 'Transaction not found')
    const ownIds = new Set(wallets.filter((wallet) => wallet.client === client).map((wallet) => wallet.id))
    return {
      status: [200, 404],
      fault: ({ status, json }) =>
        status === 404 || ownIds.has((json as { wallet_id: number }).wallet_id)
          ? undefined
          : 'a transaction of another client',
    }
  },
)

const openWallet = command('open a wallet', ['openWallet'], 2, {
  args: fc.record({
    world: worldNames,
    currency: fc.constantFrom('USD', 'KWD', 'JPY', 'VND', 'XXX', 'usd', '', 1),
    type: fc.constantFrom(undefined, 'PREPAID', 'POSTPAID', 'GIFT'),
    credit: fc.constantFrom(undefined, undefined, 0, 100, -1, 'much'),
  }),
  run: async (play, { world, currency, type, credit }) => {
    const body = { currency, type, credit_limit: credit }
    await play.control({ operation: 'openWallet', body }, world, ({ state }, response) => {
      const code = String(currency).toUpperCase()
      const bad = [
        ...(['USD', 'KWD', 'JPY', 'VND'].includes(code) ? [] : ['currency']),
        ...(type === 'GIFT' ? ['type'] : []),
        ...(credit === 'much' ? ['credit_limit'] : []),
      ]
      if (bad.length > 0) return { status: 400 }
      const isLimited = typeof credit === 'number' && credit !== 0
      if (type === 'POSTPAID' ? !isLimited || credit < 0 : isLimited) return invalid('structured', ['credit_limit'])
      const id = Math.max(...state.wallets.map((wallet) => wallet.id)) + 1
      const creditLimit = typeof credit === 'number' ? (minorOf(credit, code) ?? 0n) : 0n
      const kind = type === 'POSTPAID' ? 'POSTPAID' : 'PREPAID'
      state.wallets.push({
        ...{ id, client: 'sandbox', currency: code, type: kind, amount: 0n, reserved: 0n, creditLimit },
        ...{ threshold: null, isLow: false },
      })
      state.written = true
      return { status: 201, fault: () => faultsIn({ wallet: [(response.json as { id: number }).id, id] }) }
    })
  },
})

const fundWallet = command('fund a wallet', ['fundWallet'], 2, {
  args: fc.record({
    world: worldNames,
    id: pathIds(8),
    amount: fc.oneof(
      fc.constantFrom<unknown>(1, 0.01, 250, 1_000_000, 0.001),
      fc.constantFrom<unknown>(0, -1, null, '1', 1e10),
    ),
  }),
  run: async (play, { world: name, id, amount }) => {
    await play.control({ operation: 'fundWallet', id, body: { amount } }, name, (world, response) => {
      play.model.catchUp(world, play.now(world, response.real).lo)
      const { state } = world
      if (!isPathId(id)) return badRequest('structured', 'Invalid wallet ID')
      if (typeof amount !== 'number' || amount <= 0 || amount > 1e9) return invalid('structured', ['amount'])
      const wallet = state.wallets.find((each) => each.id === Number(id))
      if (!wallet) return notFound('structured', 'Wallet not found')
      const minor = minorOf(amount, wallet.currency)
      if (minor === undefined) return invalid('structured', ['amount'])
      fund(state, wallet.id, minor)
      const balance = majorOf(wallet.amount, wallet.currency)
      return { status: 200, fault: ({ json }) => faultsIn({ amount: [(json as { amount: number }).amount, balance] }) }
    })
  },
})

const setWalletThreshold = command('set the threshold of a wallet', ['updateWallet'], 2, {
  args: fc.record({
    world: worldNames,
    id: pathIds(8),
    threshold: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom<unknown>(1, 99_999.5, 100_000, 5_000_000, null, undefined) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(1e-7, '1', 1e12, true) },
    ),
  }),
  run: async (play, { world: name, id, threshold }) => {
    await play.control({ operation: 'updateWallet', id, body: { threshold } }, name, (world, response) => {
      play.model.catchUp(world, play.now(world, response.real).lo)
      if (!isPathId(id)) return badRequest('structured', 'Invalid wallet ID')
      const isLeftOut = threshold === null || threshold === undefined
      if (!isLeftOut && (typeof threshold !== 'number' || threshold > 1e9)) return invalid('structured', ['threshold'])
      const wallet = world.state.wallets.find((each) => each.id === Number(id))
      if (!wallet) return notFound('structured', 'Wallet not found')
      const minor = isLeftOut ? null : minorOf(threshold, wallet.currency)
      if (minor === undefined) return invalid('structured', ['threshold'])
      setThreshold(world.state, wallet, minor)
      world.state.written = true
      const amount = majorOf(wallet.amount, wallet.currency)
      return { status: 200, body: { id: wallet.id, currency: wallet.currency, amount, threshold: threshold ?? null } }
    })
  },
})

export const walletCommands = [
  listWallets,
  getWallet,
  listTransactions,
  getTransaction,
  openWallet,
  fundWallet,
  setWalletThreshold,
]
