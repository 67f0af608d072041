import { problemsOf } from '../../catalog/file-entry.ts'
import { agreeDiscounts } from '../../catalog/queries.ts'
import { changeOf, entryOf } from '../../catalog/rows.ts'
import type { Tx } from '../../db/database.ts'
import { parseId } from '../../http/parameters.ts'
import { readLimits } from '../../http/rate-limit.ts'
import { AMOUNT_MINOR_MAX, toBasisPoints } from '../../kernel/money.ts'
import { insertClients } from '../../sessions/queries.ts'
import { adjust, fund } from '../../wallets/ledger.ts'
import { insertWallet } from '../../wallets/queries.ts'
import { putProductChange } from '../editing/queries.ts'
import { SANDBOX_CLIENT_IDS, seededClients, seededWallets, UNCLAIMED } from '../seed/accounts.ts'
import { setTaken } from '../seed/queries.ts'
import type { Loading } from './loading.ts'
import type { ClientDocument, Scenario, WalletDocument } from './schema.ts'

/** The clients, wallets and products of a document. */

const OPENING = 'Opening balance'

export const loadClients = (tx: Tx, loading: Loading, { clients = [] }: Scenario): void => {
  const others = seededClients().filter(({ name }) => !clients.some((client) => client.name === name))
  const taken = new Set<number>(Object.values(SANDBOX_CLIENT_IDS))
  for (const [index, client] of clients.entries()) {
    const path = `/clients/${index}`
    const id = clientIdOf(client, taken)
    if (loading.clientIds.has(client.name))
      loading.wrong(`${path}/name`, `${client.name} is taken by an earlier client`)
    else if (client.id !== undefined && client.id !== id) loading.wrong(`${path}/id`, `must be another: ${id} is free`)
    else loadClient(tx, loading, path, { ...seededClients().find(({ name }) => name === client.name), ...client }, id)
    taken.add(id)
  }
  for (const client of others) loadClient(tx, loading, '', client, SANDBOX_CLIENT_IDS[client.name])
}

/** The two accounts have the ids that they have everywhere; the others those that they name, or the next. */
const clientIdOf = ({ name, id }: ClientDocument, taken: ReadonlySet<number>): number => {
  if (name === 'sandbox' || name === 'limited') return SANDBOX_CLIENT_IDS[name]
  return id !== undefined && !taken.has(id) ? id : Math.max(...taken) + 1
}

const loadClient = (tx: Tx, loading: Loading, path: string, client: ClientDocument, id: number): void => {
  const rateLimit = client.rate_limit ?? null
  if (rateLimit !== null && readLimits(rateLimit) === undefined) {
    loading.wrong(`${path}/rate_limit`, 'must look like 1000/h,100/m, or be off')
  }
  loading.clientIds.set(client.name, id)
  insertClients(tx, [
    {
      id,
      username: client.name,
      passwordSha256: UNCLAIMED,
      vouchers: client.features?.vouchers ?? true,
      quantityMax: client.max_quantity ?? null,
      disabled: false,
      createdAtMs: loading.accountTimeOf(`${path}/created_at`, client.created_at),
      rateLimit,
    },
  ])
  const discounts = Object.entries(client.discounts ?? {}).flatMap(([text, percent]) => {
    const [productId, discountBasisPoints] = [parseId(text), toBasisPoints(percent)]
    const place = `${path}/discounts/${text}`
    if (productId === undefined) loading.wrong(place, 'must be named by the id of a product')
    else if (discountBasisPoints === undefined) loading.wrong(place, 'must have at most two decimals')
    else return [{ clientId: id, productId, discountBasisPoints }]
    return []
  })
  if (discounts.length > 0) agreeDiscounts(tx, discounts)
  loading.discounts.set(id, new Map(discounts.map((each) => [each.productId, each.discountBasisPoints])))
}

export const loadWallets = (tx: Tx, loading: Loading, { wallets = seededWallets() }: Scenario): void => {
  /** The place of the default wallet of each client: the one that says so, otherwise the first. */
  const defaults = new Map<number, number>()
  for (const [index, wallet] of wallets.entries()) {
    if (!wallet.default) continue
    const clientId = loading.clientIds.get(wallet.client ?? 'sandbox') ?? 0
    if (defaults.has(clientId)) loading.wrong(`/wallets/${index}/default`, 'the client has another default wallet')
    else defaults.set(clientId, index)
  }
  for (const [index, wallet] of wallets.entries()) loadWallet(tx, loading, index, wallet, defaults)
}

const loadWallet = (
  tx: Tx,
  loading: Loading,
  index: number,
  entry: WalletDocument,
  defaults: Map<number, number>,
): void => {
  const { reference } = loading.sources
  const path = `/wallets/${index}`
  const clientId = loading.clientOf(path, entry.client)
  const currency = reference.findCurrencyByCode(entry.currency)
  if (!currency) loading.wrong(`${path}/currency`, `no circulating currency has the code ${entry.currency}`)
  const id = entry.id ?? Math.max(0, ...loading.wallets.keys()) + 1
  if (loading.wallets.has(id)) loading.wrong(`${path}/id`, `${id} is taken by an earlier wallet`)
  if (clientId === undefined || !currency || loading.wallets.has(id)) return
  const { type = 'PREPAID' } = entry
  const creditLimitMinor = loading.minorOf(`${path}/credit_limit`, entry.credit_limit ?? 0, currency)
  if (type === 'PREPAID' && creditLimitMinor > 0)
    loading.wrong(`${path}/credit_limit`, 'must be 0 for a PREPAID wallet')
  const amountMinor = loading.minorOf(`${path}/amount`, entry.amount ?? 0, currency)
  if (amountMinor < -creditLimitMinor) loading.wrong(`${path}/amount`, 'must not be below the credit limit')
  const { threshold = null } = entry
  const thresholdMinor = threshold === null ? null : loading.minorOf(`${path}/threshold`, threshold, currency)
  const createdAtMs = loading.accountTimeOf(`${path}/created_at`, entry.created_at)
  if (entry.default === undefined && !defaults.has(clientId)) defaults.set(clientId, index)
  const isDefault = defaults.get(clientId) === index
  const wallet = {
    ...{ id, clientId, currencyId: currency.id, type, creditLimitMinor, isDefault },
    ...{ amountMinor: 0, reservedMinor: 0, thresholdMinor, isLow: thresholdMinor !== null && thresholdMinor > 0 },
    ...{ createdAtMs, updatedAtMs: createdAtMs, closedAtMs: null },
  }
  insertWallet(tx, wallet)
  loading.wallets.set(id, { wallet, currency, amountMinor, pastMinor: 0 })
}

/** Funds each wallet so that it holds what the document says, after all of its past. */
export const openBalances = (tx: Tx, loading: Loading): void => {
  for (const [id, { wallet, amountMinor, pastMinor }] of loading.wallets) {
    const openingMinor = amountMinor - pastMinor
    if (Math.abs(openingMinor) > AMOUNT_MINOR_MAX) loading.wrong(`/wallets/${id}`, 'amount too large')
    else if (openingMinor !== 0) {
      const post = openingMinor > 0 ? fund : adjust
      loading.attempt('/wallets', () =>
        post(tx, loading.sources, wallet, openingMinor, { remarks: OPENING, nowMs: wallet.createdAtMs }),
      )
    }
  }
}

/** Reads the products that the document changes or that its orders are of. */
export const loadProducts = (loading: Loading, { products = [], orders = [] }: Scenario): void => {
  const ids = new Set([...products.map(({ id }) => id), ...orders.map((order) => order.product_id)])
  for (const product of loading.sources.productsOf([...ids])) loading.products.set(product.id, product)
  const seen = new Set<number>()
  for (const [index, { id, ...terms }] of products.entries()) {
    const path = `/products/${index}`
    const product = loading.products.get(id)
    if (seen.has(id)) loading.wrong(`${path}/id`, `${id} is taken by an earlier product`)
    else if (!product) loading.wrong(`${path}/id`, `the catalog has no product ${id}`)
    else {
      const entry = { ...entryOf({ ...product, terms: '', details: '', howToUse: '' }), ...terms }
      const problems = problemsOf(entry, loading.sources.reference)
      for (const problem of problems) loading.wrong(path + problem.path, problem.what)
      if (problems.length === 0) loading.products.set(id, { ...product, ...changeOf(terms, product.currency) })
    }
    seen.add(id)
  }
}

/** Stores what the document changes, and what its orders have taken of counted stocks. */
export const storeProducts = (tx: Tx, loading: Loading, { products = [] }: Scenario): void => {
  for (const { id, ...terms } of products) {
    const product = loading.products.get(id)
    if (!product) continue
    const change = changeOf(terms, product.currency)
    const stock = typeof terms.stock === 'number' ? { stock: terms.stock + (loading.taken.get(id) ?? 0) } : {}
    putProductChange(tx, id, { ...change, ...stock })
  }
  for (const [id, quantity] of loading.taken) {
    if (typeof loading.products.get(id)?.stock === 'number' && quantity > 0) setTaken(tx, id, quantity)
  }
}
