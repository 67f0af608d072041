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
import type { Loading, Place } from './loading.ts'
import type { ClientDocument, Scenario, WalletDocument } from './schema.ts'

/** The clients, wallets and products of a document. */

const OPENING = 'Opening balance'

export const loadClients = (tx: Tx, loading: Loading, { clients = [] }: Scenario): void => {
  const others = seededClients().filter(({ name }) => !clients.some((client) => client.name === name))
  const taken = new Set<number>(Object.values(SANDBOX_CLIENT_IDS))
  for (const [index, client] of clients.entries()) {
    const at = loading.at(`/clients/${index}`)
    const id = clientIdOf(client, taken)
    if (loading.clientIds.has(client.name)) at.wrong('name', `${client.name} is taken by an earlier client`)
    else if (client.id !== undefined && client.id !== id) at.wrong('id', `must be another: ${id} is free`)
    else loadClient(tx, at, { ...seededClients().find(({ name }) => name === client.name), ...client }, id)
    taken.add(id)
  }
  for (const client of others) loadClient(tx, loading.at(''), client, SANDBOX_CLIENT_IDS[client.name])
}

/** The two accounts have the same ids everywhere; others have the ids that they name, or the next ones. */
const clientIdOf = ({ name, id }: ClientDocument, taken: ReadonlySet<number>): number => {
  if (name === 'sandbox' || name === 'limited') return SANDBOX_CLIENT_IDS[name]
  return id !== undefined && !taken.has(id) ? id : Math.max(...taken) + 1
}

const loadClient = (tx: Tx, at: Place, client: ClientDocument, id: number): void => {
  const rateLimit = client.rate_limit ?? null
  const isLimit = rateLimit === null || readLimits(rateLimit) !== undefined
  at.check(isLimit, 'rate_limit', 'must look like 1000/h,100/m, or be off')
  at.loading.clientIds.set(client.name, id)
  insertClients(tx, [
    {
      id,
      username: client.name,
      passwordSha256: UNCLAIMED,
      vouchers: client.features?.vouchers ?? true,
      quantityMax: client.max_quantity ?? null,
      disabled: false,
      createdAtMs: at.accountTimeOf(client.created_at),
      rateLimit,
    },
  ])
  const discounts = Object.entries(client.discounts ?? {}).flatMap(([text, percent]) => {
    const [productId, discountBasisPoints] = [parseId(text), toBasisPoints(percent)]
    const member = `discounts/${text}`
    at.check(productId !== undefined, member, 'must be named by the id of a product')
    if (productId === undefined) return []
    at.check(discountBasisPoints !== undefined, member, 'must have at most two decimals')
    return discountBasisPoints === undefined ? [] : [{ clientId: id, productId, discountBasisPoints }]
  })
  if (discounts.length > 0) agreeDiscounts(tx, discounts)
  at.loading.discounts.set(id, new Map(discounts.map((each) => [each.productId, each.discountBasisPoints])))
}

export const loadWallets = (tx: Tx, loading: Loading, { wallets = seededWallets() }: Scenario): void => {
  /** The place of the default wallet of each client: the wallet that says it is, otherwise the first. */
  const defaults = new Map<number, number>()
  for (const [index, wallet] of wallets.entries()) {
    if (!wallet.default) continue
    const clientId = loading.clientIds.get(wallet.client ?? 'sandbox') ?? 0
    if (!defaults.has(clientId)) defaults.set(clientId, index)
    else loading.at(`/wallets/${index}`).wrong('default', 'the client has another default wallet')
  }
  for (const [index, wallet] of wallets.entries()) {
    loadWallet(tx, loading.at(`/wallets/${index}`), wallet, (clientId) => {
      if (wallet.default === undefined && !defaults.has(clientId)) defaults.set(clientId, index)
      return defaults.get(clientId) === index
    })
  }
}

const loadWallet = (tx: Tx, at: Place, entry: WalletDocument, isDefaultOf: (clientId: number) => boolean): void => {
  const { sources, wallets } = at.loading
  const clientId = at.clientOf(entry.client)
  const currency = sources.reference.findCurrencyByCode(entry.currency)
  at.check(currency !== undefined, 'currency', `unknown currency ${entry.currency}`)
  const id = entry.id ?? Math.max(0, ...wallets.keys()) + 1
  at.check(!wallets.has(id), 'id', `${id} is taken by an earlier wallet`)
  if (clientId === undefined || !currency || wallets.has(id)) return
  const { type = 'PREPAID', threshold = null } = entry
  const creditLimitMinor = at.minorOf('credit_limit', entry.credit_limit ?? 0, currency)
  at.check(type === 'POSTPAID' || creditLimitMinor <= 0, 'credit_limit', 'must be 0 for a PREPAID wallet')
  const amountMinor = at.minorOf('amount', entry.amount ?? 0, currency)
  at.check(amountMinor >= -creditLimitMinor, 'amount', 'must not be below the credit limit')
  const thresholdMinor = threshold === null ? null : at.minorOf('threshold', threshold, currency)
  const createdAtMs = at.accountTimeOf(entry.created_at)
  const wallet = {
    ...{ id, clientId, currencyId: currency.id, type, creditLimitMinor, isDefault: isDefaultOf(clientId) },
    ...{ amountMinor: 0, reservedMinor: 0, thresholdMinor, isLow: thresholdMinor !== null && thresholdMinor > 0 },
    ...{ createdAtMs, updatedAtMs: createdAtMs, closedAtMs: null },
  }
  insertWallet(tx, wallet)
  wallets.set(id, { wallet, currency, amountMinor, pastMinor: 0 })
}

/** Funds each wallet so that it holds the amount of the document after all of its past. */
export const openBalances = (tx: Tx, loading: Loading): void => {
  const at = loading.at('/wallets')
  for (const [id, { wallet, amountMinor, pastMinor }] of loading.wallets) {
    const openingMinor = amountMinor - pastMinor
    if (Math.abs(openingMinor) > AMOUNT_MINOR_MAX) at.wrong(`${id}`, 'amount too large')
    else if (openingMinor !== 0) {
      const post = openingMinor > 0 ? fund : adjust
      const cause = { remarks: OPENING, nowMs: wallet.createdAtMs }
      at.attempt(() => post(tx, loading.sources, wallet, openingMinor, cause))
    }
  }
}

/** Reads the products that the document changes or that its orders name. */
export const loadProducts = (loading: Loading, { products = [], orders = [] }: Scenario): void => {
  const { sources } = loading
  const ids = new Set([...products.map(({ id }) => id), ...orders.map((order) => order.product_id)])
  for (const product of sources.productsOf([...ids])) loading.products.set(product.id, product)
  const seen = new Set<number>()
  for (const [index, { id, ...terms }] of products.entries()) {
    const at = loading.at(`/products/${index}`)
    const product = loading.products.get(id)
    if (seen.has(id)) at.wrong('id', `${id} is taken by an earlier product`)
    else if (!product) at.wrong('id', `the catalog has no product ${id}`)
    else {
      const entry = { ...entryOf({ ...product, terms: '', details: '', howToUse: '' }), ...terms }
      const problems = problemsOf(entry, sources.reference)
      for (const problem of problems) loading.at(at.path + problem.path).wrong('', problem.what)
      if (problems.length === 0) loading.products.set(id, { ...product, ...changeOf(terms, product.currency) })
    }
    seen.add(id)
  }
}

/** Stores the changes of the document, and the cards that its orders have taken from counted stocks. */
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
