import type { ControlOperation } from '../../acts/act.ts'
import { CLIENT_EDITING, clientActs, newPassword } from '../../acts/clients.ts'
import { rateActs, ratesFile } from '../../acts/rates.ts'
import { editEntry } from '../../catalog/edit.ts'
import { changeOf } from '../../catalog/rows.ts'
import { forgetPrices } from '../../charges/cache.ts'
import { parseRates, RateTable } from '../../charges/rates.ts'
import { ratesIn } from '../../charges/stored-rates.ts'
import type { Query } from '../../db/database.ts'
import { listOf } from '../../http/operation.ts'
import { idPath } from '../../http/parameters.ts'
import { getExample } from '../../http/schemas.ts'
import { foundOr, notFound, violated, violation } from '../../kernel/failure.ts'
import { refreshClients } from '../../sessions/clients.ts'
import { allClients, type ClientRecord, countClients, findAnyClient } from '../../sessions/queries.ts'
import type { World } from '../../work/world.ts'
import { controlRoutes } from '../control/operation.ts'
import { actRoute } from '../control/steps.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/contract.ts'
import { clientWire, editClient } from './clients.ts'
import {
  CatalogEntry,
  ClientMembers,
  ClientState,
  ENTRY_EXAMPLE,
  NewClient,
  ProductEdit,
  RateMembers,
} from './contract.ts'
import { changeProduct, entryIn } from './products.ts'

const CLIENTS_MAX = 1_000

/** Everything in a world that depends on the edit is computed again. */
const invalidateDerived = (world: World): void => {
  world.forgetDerived()
  forgetPrices(world)
}

const PRODUCT_EDIT: ControlOperation = {
  route: 'PATCH /products/{id}',
  id: 'editProduct',
  names: 'product.',
  description:
    'Members as in a catalog file. Members that are left out do not change. It takes effect immediately in lists, prices and ' +
    'orders of this world, and drops its held prices. Other worlds do not change.',
  title: 'ProductEdit',
  bodyExample: { active: false, stock: 3, denominations: [{ min_value: 100, max_value: 100, discount: 10 }] },
  wrong: violation('stock', 'min', 'must be at least 0'),
  refuses: { not_found: notFound('Product') },
}

export const productRoutes = (parts: Parts) => {
  const { catalog, reference } = parts
  /** @throws DomainError not_found */
  const getProduct = (world: World, id: number) => foundOr(catalog.findAny(world, id), notFound('Product'))
  return actRoute(parts, controlRoutes(), {
    summary: 'Change a product of a world',
    takes: {},
    operation: PRODUCT_EDIT,
    members: ProductEdit,
    params: idPath('product'),
    by: (tx, edit, { world }, { params: { id } }) => {
      const product = getProduct(world, id)
      const { terms } = editEntry(reference, entryIn(tx, catalog, product), edit)
      changeProduct(tx, id, changeOf(terms, product.currency))
      return id
    },
    response: { description: 'The product', schema: CatalogEntry, example: ENTRY_EXAMPLE },
    onDone: invalidateDerived,
    wire: (id, world) => entryIn(world.db.query, catalog, getProduct(world, id)),
  })
}

const RATES_EXAMPLE = { base: 'USD', rates: { EUR: '0.92' } }
const ALL_RATES = { description: 'All rates', schema: RateTable, example: RATES_EXAMPLE }

export const rateRoutes = (parts: Parts) => {
  const routes = controlRoutes('rates.').get(
    '/rates',
    ({ query }) => ratesFile(ratesIn(getWorld(parts.worlds, query.world), parts.initialRates)),
    {
      id: 'getRates',
      summary: 'See the exchange rates of a world',
      description: 'In the form of a file for `--rates`.',
      response: ALL_RATES,
    },
  )
  return actRoute(parts, routes, {
    ...rateActs.set,
    takes: {},
    members: RateMembers,
    by: (tx, _, context, { text = '' }) => rateActs.set.by(tx, { rates: parseRates(text), isAll: true }, context),
    response: ALL_RATES,
    onDone: invalidateDerived,
    wire: ratesFile,
  })
}

const { add, limits } = clientActs

export const clientRoutes = (parts: Parts) => {
  const routes = controlRoutes('clients.').get(
    '/clients',
    ({ query }) => {
      const world = getWorld(parts.worlds, query.world)
      return allClients(world.db.query).map((client) => clientWire(world, client))
    },
    {
      id: 'listSandboxClients',
      summary: 'List the clients of a world',
      description: 'The two that every world has come first.',
      response: listOf('Without passwords', ClientState),
    },
  )
  actRoute(parts, routes, {
    ...add,
    takes: { ...add.takes, ...limits.body },
    members: ClientMembers,
    by: (tx, { name, password: sent, ...edit }, context) => {
      const password = sent ?? newPassword(context.world)
      const id = add.by(tx, { name, password }, context)
      if (countClients(tx) > CLIENTS_MAX) throw violated('name', 'max', `cannot be added: ${TOO_MANY}`)
      editClient(tx, getClient(tx, id), edit, context)
      return { id, password }
    },
    response: {
      status: 201,
      description: 'The client, and its password, which is not shown again',
      schema: NewClient,
    },
    onDone: (world) => world.forgetDerived(),
    wire: ({ id, password }, world) => ({ ...clientWire(world, getClient(world.db.query, id)), password }),
    // A client has no separate URL: it is an item of the list.
    location: () => '/_sandbox/clients',
  })
  return actRoute(parts, routes, {
    summary: 'Change a client of a world',
    takes: limits.body,
    operation: CLIENT_EDITING,
    members: ClientMembers,
    params: idPath('client'),
    by: (tx, edit, context, { params: { id } }) => {
      editClient(tx, getClient(tx, id), edit, context)
      return id
    },
    response: {
      description: 'The client',
      schema: ClientState,
      example: { ...getExample(ClientState), features: { vouchers: false } },
    },
    onDone: (world) => {
      invalidateDerived(world)
      refreshClients(world)
    },
    wire: (id, world) => clientWire(world, getClient(world.db.query, id)),
  })
}

const TOO_MANY = `a world has at most ${CLIENTS_MAX} clients`

/** @throws DomainError not_found */
const getClient = (query: Query, id: number): ClientRecord => foundOr(findAnyClient(query, id), notFound('Client'))
