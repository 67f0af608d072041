import type { Static } from '@sinclair/typebox'
import type { ControlOperation } from '../../acts/act.ts'
import { clientActs, LIMITS_PROBLEM, newPassword } from '../../acts/clients.ts'
import { valuesIn } from '../../acts/fields.ts'
import { rateActs, ratesFile } from '../../acts/rates.ts'
import { forgetPrices } from '../../charges/cache.ts'
import { parseRates, RateTable } from '../../charges/rates.ts'
import { ratesIn } from '../../charges/stored-rates.ts'
import type { Query } from '../../db/database.ts'
import { readText } from '../../http/body.ts'
import { listOf } from '../../http/operation.ts'
import { idPath } from '../../http/parameters.ts'
import { getExample } from '../../http/schemas.ts'
import { DomainError, foundOr, invalid, notFound, violated, violation } from '../../kernel/failure.ts'
import { FileFault } from '../../kernel/problems.ts'
import { refreshClients } from '../../sessions/clients.ts'
import { allClients, type ClientRecord, countClients, findAnyClient } from '../../sessions/queries.ts'
import type { World } from '../../work/world.ts'
import { controlRoutes } from '../control/operation.ts'
import { asOperation, contextIn, lineOf, presentWorld } from '../control/steps.ts'
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
import { changeProduct, entryIn, readEdit, violationAt } from './products.ts'

const CLIENTS_MAX = 1_000

/** Everything in a world that depends on the edit is computed again. */
const invalidateDerived = (world: World): void => {
  world.forgetDerived()
  forgetPrices(world)
}

export const productRoutes = (parts: Parts) =>
  controlRoutes('product.').patch(
    '/products/:id',
    async ({ params: { id }, query, body: edit }) => {
      const { catalog, reference } = parts
      const world = await presentWorld(parts, query.world)
      const product = foundOr(catalog.findAny(world, id), notFound('Product'))
      const change = readEdit(reference, product, entryIn(world.db.query, catalog, product), edit)
      await world.db.write((tx) => changeProduct(tx, id, change))
      invalidateDerived(world)
      return entryIn(world.db.query, catalog, foundOr(catalog.findAny(world, id), notFound('Product')))
    },
    {
      id: 'editProduct',
      summary: 'Change a product of a world',
      description:
        'Members as in a catalog file. Members that are left out do not change. It takes effect immediately in lists, prices and ' +
        'orders of this world, and drops its held prices. Other worlds do not change.',
      params: idPath('product'),
      body: ProductEdit,
      bodyExample: { active: false, stock: 3, denominations: [{ min_value: 100, max_value: 100, discount: 10 }] },
      response: { description: 'The product', schema: CatalogEntry, example: ENTRY_EXAMPLE },
      refuses: { validation: violation('stock', 'min', 'must be at least 0'), not_found: notFound('Product') },
    },
  )

/** @throws DomainError validation with every bad rate */
const refusingFaults = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const violations = error.problems.map((problem) => {
      const [path = '', ...what] = problem.split(': ')
      return violationAt(path, what.join(': '))
    })
    throw new DomainError(invalid(violations))
  }
}

const { set: setting } = rateActs
const RATES_EXAMPLE = { base: 'USD', rates: { EUR: '0.92' } }
const ALL_RATES = { description: 'All rates', schema: RateTable, example: RATES_EXAMPLE }

export const rateRoutes = (parts: Parts) =>
  controlRoutes('rates.')
    .get('/rates', ({ query }) => ratesFile(ratesIn(getWorld(parts.worlds, query.world), parts.initialRates)), {
      id: 'getRates',
      summary: 'See the exchange rates of a world',
      description: 'In the form of a file for `--rates`.',
      response: ALL_RATES,
    })
    .put(
      '/rates',
      async ({ query, request }) => {
        const world = await presentWorld(parts, query.world)
        const text = await readText(request)
        const rates = refusingFaults(() => parseRates(text))
        const table = { rates, isAll: true }
        await world.db.write((tx) => refusingFaults(() => setting.by(tx, table, contextIn(parts, world))))
        invalidateDerived(world)
        return ratesFile(rates)
      },
      { ...lineOf({ ...setting, takes: {} }, RateMembers), response: ALL_RATES },
    )

const { add, limits } = clientActs
/** A PATCH does several acts at once. */
const EDITING: ControlOperation = {
  route: 'PATCH /clients/{id}',
  id: 'editSandboxClient',
  names: 'client_edit.',
  description:
    'Members that are left out do not change, and neither do discounts on other products. A new password ends its tokens.',
  title: 'SandboxClientEdit',
  bodyExample: { features: { vouchers: false } },
  wrong: invalid([{ field: 'rate_limit', ...LIMITS_PROBLEM }]),
  refuses: { not_found: notFound('Client') },
}

const editIn = (body: Static<typeof ClientMembers>) => ({ ...body, ...valuesIn(limits.body, body) })

export const clientRoutes = (parts: Parts) =>
  controlRoutes('clients.')
    .get(
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
    .post(
      '/clients',
      async ({ query, body, set }) => {
        const world = await presentWorld(parts, query.world)
        const { password = newPassword(world), ...edit } = body
        const added = { ...valuesIn(add.takes, body), password }
        const context = contextIn(parts, world)
        const id = await world.db.write((tx) => {
          const id = asOperation(() => add.by(tx, added, context))
          if (countClients(tx) > CLIENTS_MAX) throw violated('name', 'max', `cannot be added: ${TOO_MANY}`)
          editClient(tx, getClient(tx, id), editIn(edit), context)
          return id
        })
        world.forgetDerived()
        // A client has no separate URL: it is an item of the list.
        set.headers.Location = '/_sandbox/clients'
        return { ...clientWire(world, getClient(world.db.query, id)), password }
      },
      {
        ...lineOf({ ...add, takes: { ...add.takes, ...limits.body } }, ClientMembers),
        response: {
          status: 201,
          description: 'The client, and its password, which is not shown again',
          schema: NewClient,
        },
      },
    )
    .patch(
      '/clients/:id',
      async ({ params: { id }, query, body }) => {
        const world = await presentWorld(parts, query.world)
        const context = contextIn(parts, world)
        await world.db.write((tx) => editClient(tx, getClient(tx, id), editIn(body), context))
        invalidateDerived(world)
        refreshClients(world)
        return clientWire(world, getClient(world.db.query, id))
      },
      {
        ...lineOf({ summary: 'Change a client of a world', takes: limits.body, operation: EDITING }, ClientMembers),
        params: idPath('client'),
        response: {
          description: 'The client',
          schema: ClientState,
          example: { ...getExample(ClientState), features: { vouchers: false } },
        },
      },
    )

const TOO_MANY = `a world has at most ${CLIENTS_MAX} clients`

/** @throws DomainError not_found */
const getClient = (query: Query, id: number): ClientRecord => foundOr(findAnyClient(query, id), notFound('Client'))
