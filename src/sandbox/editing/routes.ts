import { Elysia } from 'elysia'
import { forgetPrices } from '../../charges/cache.ts'
import { ratesIn, replaceRates } from '../../charges/stored-rates.ts'
import { readObject } from '../../http/body.ts'
import { found, notFound, violated } from '../../kernel/failure.ts'
import { refreshClients } from '../../sessions/clients.ts'
import { passwordDigest } from '../../sessions/credentials.ts'
import { addClient, allClients, findCredentials } from '../../sessions/queries.ts'
import type { World } from '../../worlds/world.ts'
import { presentWorld } from '../control/operator.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/operations.ts'
import { applyClientEdit, clientWire, readClientEdit } from './clients.ts'
import * as operations from './operations.ts'
import { changeProduct, entryIn, readEdit } from './products.ts'
import { ratesWire, readRates, refusingFaults } from './rates.ts'

/** How many letters a generated password has: 165 random bits. */
const PASSWORD_LENGTH = 32
const CLIENTS_MAX = 1_000

/** Everything in a world that depends on the edit is computed again. */
const seeAnew = (world: World): void => {
  world.forgetDerived()
  forgetPrices(world)
}

/** The members that were sent as null, which mean something here. */
const nullsIn = async (request: Request): Promise<ReadonlySet<string>> => {
  const sent = Object.entries(await readObject(request))
  return new Set(sent.filter(([, value]) => value === null).map(([name]) => name))
}

export const productRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-products' }).patch(
    '/products/:id',
    async ({ params: { id }, query, body, request }) => {
      const { catalog, reference } = parts
      const world = await presentWorld(parts, query.world)
      const edit = (await nullsIn(request)).has('stock') ? { ...body, stock: null } : body
      const product = found(catalog.findAny(world, id), notFound('Product'))
      const change = readEdit(reference, product, entryIn(world.db.query, catalog, product), edit)
      await world.db.write((tx) => changeProduct(tx, id, change))
      seeAnew(world)
      return entryIn(world.db.query, catalog, found(catalog.findAny(world, id), notFound('Product')))
    },
    operations.editProduct,
  )

export const rateRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-rates' })
    .get(
      '/rates',
      ({ query }) => ratesWire(ratesIn(getWorld(parts.worlds, query.world), parts.initialRates)),
      operations.getRates,
    )
    .put(
      '/rates',
      async ({ query, body }) => {
        const world = await presentWorld(parts, query.world)
        const rates = readRates(body)
        await world.db.write((tx) => refusingFaults(() => replaceRates(tx, parts.reference, rates)))
        seeAnew(world)
        return ratesWire(rates)
      },
      operations.setRates,
    )

export const clientRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-clients' })
    .get(
      '/clients',
      ({ query }) => {
        const world = getWorld(parts.worlds, query.world)
        return allClients(world.db.query).map((client) => clientWire(world.db.query, world, client))
      },
      operations.listClients,
    )
    .post(
      '/clients',
      async ({ query, body: { name, ...sent }, request, set }) => {
        const world = await presentWorld(parts, query.world)
        const edit = readClientEdit(parts.catalog, world, sent, await nullsIn(request))
        const password = sent.password ?? world.ids.letters(PASSWORD_LENGTH)
        const id = await world.db.write((tx) => {
          if (findCredentials(tx, name)) throw violated('name', 'enum', 'must not be taken by another client')
          if (allClients(tx).length >= CLIENTS_MAX) throw violated('name', 'max', `cannot be added: ${TOO_MANY}`)
          const added = addClient(tx, name, passwordDigest(password), world.clock.nowMs())
          applyClientEdit(tx, added, edit)
          return added
        })
        world.forgetDerived()
        // A client has no address of its own: it is an item of the list.
        set.headers.Location = '/_sandbox/clients'
        return { ...getClientWire(world, id), password }
      },
      operations.addClient,
    )
    .patch(
      '/clients/:id',
      async ({ params: { id }, query, body, request }) => {
        const world = await presentWorld(parts, query.world)
        found(
          allClients(world.db.query).find((client) => client.id === id),
          notFound('Client'),
        )
        const edit = readClientEdit(parts.catalog, world, body, await nullsIn(request))
        await world.db.write((tx) => applyClientEdit(tx, id, edit))
        seeAnew(world)
        refreshClients(world)
        return getClientWire(world, id)
      },
      operations.editClient,
    )

const TOO_MANY = `a world has at most ${CLIENTS_MAX} clients`

const getClientWire = (world: World, id: number) => {
  const client = allClients(world.db.query).find((candidate) => candidate.id === id)
  return clientWire(world.db.query, world, found(client, notFound('Client')))
}
