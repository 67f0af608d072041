import { newPassword } from '../../acts/clients.ts'
import { ratesFile } from '../../acts/rates.ts'
import { forgetPrices } from '../../charges/cache.ts'
import { parseRates, RateTable } from '../../charges/rates.ts'
import { ratesIn, replaceRates } from '../../charges/stored-rates.ts'
import { readObject, readText } from '../../http/body.ts'
import { listOf } from '../../http/operation.ts'
import { idPath } from '../../http/parameters.ts'
import { getExample } from '../../http/schemas.ts'
import { DomainError, foundOr, invalid, notFound, violated, violation } from '../../kernel/failure.ts'
import { FileFault } from '../../kernel/problems.ts'
import { refreshClients } from '../../sessions/clients.ts'
import { passwordDigest } from '../../sessions/credentials.ts'
import { addClient, allClients, countClients, findAnyClient, findCredentials } from '../../sessions/queries.ts'
import type { World } from '../../work/world.ts'
import { controlRoutes } from '../control/operation.ts'
import { presentWorld } from '../control/steps.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/contract.ts'
import { clientWire, readClientEdit } from './clients.ts'
import {
  CatalogEntry,
  ClientEditBody,
  ClientState,
  ENTRY_EXAMPLE,
  LIMIT_PROBLEM,
  NAME_PROBLEM,
  NewClient,
  NewClientBody,
  ProductEdit,
  RATES_EXAMPLE,
  RatesBody,
} from './contract.ts'
import { changeProduct, entryIn, readEdit, violationAt } from './products.ts'

const CLIENTS_MAX = 1_000

/** Everything in a world that depends on the edit is computed again. */
const invalidateDerived = (world: World): void => {
  world.forgetDerived()
  forgetPrices(world)
}

/** The members that were sent as null: null removes a value here. */
const nullsIn = async (request: Request): Promise<ReadonlySet<string>> => {
  const sent = Object.entries(await readObject(request))
  return new Set(sent.filter(([, value]) => value === null).map(([name]) => name))
}

export const productRoutes = (parts: Parts) =>
  controlRoutes('product.').patch(
    '/products/:id',
    async ({ params: { id }, query, body, request }) => {
      const { catalog, reference } = parts
      const world = await presentWorld(parts, query.world)
      const edit = (await nullsIn(request)).has('stock') ? { ...body, stock: null } : body
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
        await world.db.write((tx) => refusingFaults(() => replaceRates(tx, parts.reference, rates)))
        invalidateDerived(world)
        return ratesFile(rates)
      },
      {
        id: 'setRates',
        summary: 'Set all exchange rates of a world',
        description: 'Currencies that are left out no longer have a rate. Held prices of the world are dropped.',
        body: RatesBody,
        bodyExample: RATES_EXAMPLE,
        response: ALL_RATES,
        refuses: {
          validation: invalid([
            {
              field: 'rates.EUR',
              rule: 'format',
              problem: 'is wrong',
              message: 'rates.EUR: much is not a positive decimal with at most 8 decimals',
            },
          ]),
        },
      },
    )

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
      async ({ query, body: { name, ...sent }, request, set }) => {
        const world = await presentWorld(parts, query.world)
        const apply = readClientEdit(parts.catalog, world, sent, await nullsIn(request))
        const password = sent.password ?? newPassword(world)
        const id = await world.db.write((tx) => {
          if (findCredentials(tx, name)) throw violated('name', 'enum', 'must not be taken by another client')
          if (countClients(tx) >= CLIENTS_MAX) throw violated('name', 'max', `cannot be added: ${TOO_MANY}`)
          const added = addClient(tx, name, passwordDigest(password), world.clock.nowMs())
          apply(tx, added)
          return added
        })
        world.forgetDerived()
        // A client has no separate URL: it is an item of the list.
        set.headers.Location = '/_sandbox/clients'
        return { ...getClientWire(world, id), password }
      },
      {
        id: 'addSandboxClient',
        summary: 'Add a client to a world',
        description: 'Every feature is on by default. It has no wallet yet: see openWallet.',
        body: NewClientBody,
        bodyExample: { name: 'shop', max_quantity: 10, discounts: { '1': 7.5 }, rate_limit: '100/h,3/m' },
        response: {
          status: 201,
          description: 'The client, and its password, which is not shown again',
          schema: NewClient,
        },
        refuses: { validation: violation('name', 'format', NAME_PROBLEM) },
      },
    )
    .patch(
      '/clients/:id',
      async ({ params: { id }, query, body, request }) => {
        const world = await presentWorld(parts, query.world)
        getClientWire(world, id)
        const apply = readClientEdit(parts.catalog, world, body, await nullsIn(request))
        await world.db.write((tx) => apply(tx, id))
        invalidateDerived(world)
        refreshClients(world)
        return getClientWire(world, id)
      },
      {
        id: 'editSandboxClient',
        summary: 'Change a client of a world',
        description:
          'Members that are left out do not change, and neither do discounts on other products. A new password ends its tokens.',
        names: 'client_edit.',
        params: idPath('client'),
        body: ClientEditBody,
        bodyExample: { features: { vouchers: false } },
        response: {
          description: 'The client',
          schema: ClientState,
          example: { ...getExample(ClientState), features: { vouchers: false } },
        },
        refuses: { validation: violation('rate_limit', 'format', LIMIT_PROBLEM), not_found: notFound('Client') },
      },
    )

const TOO_MANY = `a world has at most ${CLIENTS_MAX} clients`

/** @throws DomainError not_found */
const getClientWire = (world: World, id: number) =>
  clientWire(world, foundOr(findAnyClient(world.db.query, id), notFound('Client')))
