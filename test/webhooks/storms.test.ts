import { describe, expect, test } from 'bun:test'
import { forFile, startServer, TestWorld } from '../harness.ts'
import { NOON } from '../records.ts'
import {
  attemptsOf,
  fund,
  hook,
  openReceiver,
  patchHook,
  type Receiver,
  readHook,
  receiversOfFile,
  settle,
  WEBHOOKS,
} from './webhooks.ts'

/** Much at once, and in an unusual order. */

const server = forFile(await startServer('--rate-limit', 'off'))

const receiving = receiversOfFile()
const failing = () => new Response('', { status: 503 })
const make = (world: TestWorld, data: object) => world.control('/events', { type: 'payout.completed', data })
const makeMany = async (world: TestWorld, count: number): Promise<void> => {
  for (let id = 1; id <= count; id++) await make(world, { id })
}
/** Another client of a world. */
const clientOf = async (world: TestWorld, name: string): Promise<TestWorld> => {
  const password = 'a password'
  const { status } = await world.control('/clients', { name, password })
  if (status !== 201) throw new Error(`client: ${status}`)
  return TestWorld.open(server, world.name, `sbx_${world.name}.${name}`)
}

describe('A webhook with hundreds of events that wait', () => {
  test('is switched off, on and off again: nothing of it is delivered later', async () => {
    const [world, receiver] = [await server.world(NOON), receiving(failing)]
    const { id } = await hook(world, receiver.url)
    await makeMany(world, 300)
    await patchHook(world, id, { active: false })
    await patchHook(world, id, { active: true })
    await make(world, { id: 0 })
    await patchHook(world, id, { active: false })
    // What was dropped is deleted in steps between writes.
    for (let write = 0; write < 60; write++) await fund(world)
    await settle(world)
    receiver.reply = () => new Response()
    receiver.received.length = 0
    await patchHook(world, id, { active: true })
    await world.clock({ advance: 'PT1M' })
    await settle(world)
    expect(receiver.received).toEqual([])
    await fund(world)
    await settle(world)
    expect(receiver.types()).toEqual(['wallet.credited'])
  })

  test('is switched off and deleted: its events expire like any others', async () => {
    const [world, receiver] = [await server.world(NOON), receiving(failing)]
    const { id } = await hook(world, receiver.url)
    await makeMany(world, 300)
    await patchHook(world, id, { active: false })
    expect((await world.delete(`${WEBHOOKS}/${id}`)).status).toBe(204)
    await world.clock({ advance: 'P31D' })
    const again = await world.again()
    const count = async () => (await again.get('/api/v1/events')).headers.get('x-total-count')
    while ((await count()) !== '0') await Bun.sleep(5) // what was dropped is deleted in steps
  })
})

test('Sixty-four hosts that hang leave places to one that responds', async () => {
  const world = await server.world(NOON)
  const held = Promise.withResolvers<void>()
  const [hanging, prompt] = [openReceiver(failing, undefined, '0.0.0.0'), receiving()]
  const names = ['one', 'two', 'three', 'four']
  const clients = await Promise.all(names.map((name) => clientOf(world, name)))
  const hostOf = (number: number) => hanging.url.replace('127.0.0.1', `127.0.0.${number + 1}`)
  for (const client of clients) for (let each = 0; each < 16; each++) await hook(client, hostOf(each))
  for (const name of names) await world.control('/events', { type: 'ping', client: name })
  await settle(world)
  hanging.reply = async () => {
    await held.promise
    return failing()
  }
  hanging.received.length = 0
  await world.clock({ advance: 'PT30S' })
  await hook(world, prompt.url)
  await hanging.until(48)
  await fund(await world.again())
  await prompt.until(1)
  expect(hanging.received).toHaveLength(48)
  held.resolve()
  await settle(world)
  expect(hanging.received).toHaveLength(64)
})

describe('A host at which webhooks of a client have failed', () => {
  /** How many requests a receiver has not responded to, and the most that there were. */
  const counting = () => {
    const counts = { open: 0, most: 0 }
    const reply = async () => {
      counts.most = Math.max(counts.most, ++counts.open)
      await Bun.sleep(5) // others would come meanwhile
      counts.open -= 1
      return failing()
    }
    return { counts, reply }
  }

  test('gets one request at a time from all of them, in turn', async () => {
    const [world, receiver] = [await server.world(NOON), receiving(failing)]
    for (let number = 1; number <= 20; number++) await hook(world, `${receiver.url}/${number}`)
    await make(world, { id: 1 })
    await settle(world)
    const { counts, reply } = counting()
    receiver.reply = reply
    receiver.received.length = 0
    await world.clock({ advance: 'PT30S' })
    for (let id = 2; id <= 4; id++) await make(world, { id })
    await settle(world)
    expect(counts.most).toBe(1)
    const paths = receiver.received.map(({ path }) => path)
    expect(paths).toHaveLength(80)
    expect(new Set(paths.slice(0, 20)).size).toBe(20)
  })

  test('and all that waited while nobody sent is one more', async () => {
    const [world, receiver] = [await server.world(NOON), receiving(failing)]
    for (let number = 1; number <= 20; number++) await hook(world, `${receiver.url}/${number}`)
    await make(world, { id: 1 })
    await settle(world)
    // Everything has failed for good, and nothing waits any more.
    for (const pause of ['PT30S', 'PT2M', 'PT10M', 'PT1H', 'PT6H']) {
      await world.clock({ advance: pause })
      await settle(world)
    }
    const { counts, reply } = counting()
    receiver.reply = reply
    await make(world, { id: 2 })
    await settle(world)
    expect(counts.most).toBe(1)
  })

  test('gets one from each client, and as many as before where they are delivered', async () => {
    const world = await server.world(NOON)
    const other = await clientOf(world, 'other')
    const [receiver, both] = [receiving(failing), Promise.withResolvers<void>()]
    for (const client of [world, other]) for (let each = 0; each < 2; each++) await hook(client, receiver.url)
    for (const client of ['sandbox', 'other']) await world.control('/events', { type: 'ping', client })
    await settle(world)
    let open = 0
    receiver.reply = async () => {
      if (++open === 2) both.resolve()
      await both.promise
      return new Response()
    }
    await world.clock({ advance: 'PT30S' })
    await settle(world)
    expect(receiver.received).toHaveLength(8)
  })

  const days = async (world: TestWorld, count: number): Promise<TestWorld> => {
    let today = world
    for (let day = 0; day < count; day++) {
      await make(today, { id: day })
      await settle(today)
      await today.clock({ advance: 'P1D' })
      today = await today.again()
    }
    return today
  }
  const activeOf = async (world: TestWorld, ids: string[]) =>
    Promise.all(ids.map(async (id) => (await readHook(world, id)).active))

  test('is switched off as a whole, and gets nothing more, when all of them fail and one has failed for 3 days', async () => {
    let world = await server.world(NOON)
    const [receiver, elsewhere] = [receiving(failing), receiving(failing)]
    const oldest = await hook(world, receiver.url)
    world = await days(world, 2)
    const [newer, other] = [await hook(world, `${receiver.url}/new`), await hook(world, elsewhere.url)]
    world = await days(world, 1)
    await settle(world)
    const ids = [oldest.id, newer.id, other.id]
    expect(await activeOf(world, ids)).toEqual([false, false, true])
    expect(await readHook(world, newer.id)).toMatchObject({ disabled_reason: 'failing' })
    receiver.received.length = 0
    await days(world, 1)
    expect(receiver.received).toEqual([])
  })

  test('stays on for a webhook that is delivered', async () => {
    let world = await server.world(NOON)
    const receiver = receiving(({ path }) => (path.endsWith('/new') ? new Response() : failing()))
    const oldest = await hook(world, receiver.url)
    world = await days(world, 2)
    const newer = await hook(world, `${receiver.url}/new`)
    world = await days(world, 2)
    await settle(world)
    expect(await activeOf(world, [oldest.id, newer.id])).toEqual([false, true])
  })
})

test('An event of half a megabyte arrives whole at a receiver that reads slowly', async () => {
  const [world, receiver] = [await server.world(NOON), receiving()]
  const { id } = await hook(world, receiver.url)
  const text = 'é'.repeat(250_000)
  expect((await make(world, { id: 1, text })).status).toBe(201)
  await settle(world)
  expect(receiver.received.map(({ event }) => event.data)).toEqual([{ id: 1, text }])
  expect(await attemptsOf(world, id)).toMatchObject([{ status: 'delivered' }])
  expect(await readHook(world, id)).toMatchObject({ active: true })
})

describe('While a delivery is on its way', () => {
  /** A world with one event at a receiver that has not responded yet. */
  const delivering = async () => {
    const [world, { promise, resolve }] = [await server.world(NOON), Promise.withResolvers<Response>()]
    const receiver = receiving(() => promise)
    const { id } = await hook(world, receiver.url)
    await fund(world)
    await receiver.until(1)
    return { world, receiver, id, respond: resolve }
  }

  test('its webhook is deleted: nothing is sent again', async () => {
    const { world, receiver, id, respond } = await delivering()
    expect((await world.delete(`${WEBHOOKS}/${id}`)).status).toBe(204)
    respond(failing())
    await settle(world)
    await world.clock({ advance: 'PT1M' })
    await settle(world)
    expect(receiver.received).toHaveLength(1)
  })

  test('its webhook is switched off and on: it has failed, and is not sent again', async () => {
    const { world, receiver, id, respond } = await delivering()
    await patchHook(world, id, { active: false })
    await patchHook(world, id, { active: true })
    respond(failing())
    await settle(world)
    await world.clock({ advance: 'PT1M' })
    await settle(world)
    expect(receiver.received).toHaveLength(1)
    expect(await attemptsOf(await world.again(), id)).toMatchObject([{ status: 'failed', next_attempt_at: null }])
  })

  test('its secret is rotated: the next attempt is signed with both', async () => {
    const { world, receiver, id, respond } = await delivering()
    await world.post(`${WEBHOOKS}/${id}/rotate`)
    receiver.reply = () => new Response()
    respond(failing())
    await settle(world)
    await world.clock({ advance: 'PT30S' })
    await settle(world)
    const signatures = receiver.received.map(({ headers }) => headers.get('webhook-signature')?.split(' ').length)
    expect(signatures).toEqual([1, 2])
  })

  test('its URL is changed: the next attempt goes to the new one', async () => {
    const { world, receiver, id, respond } = await delivering()
    const other = receiving()
    await patchHook(world, id, { url: other.url })
    respond(failing())
    await settle(world)
    await world.clock({ advance: 'PT30S' })
    await settle(world)
    expect([receiver.received.length, other.types()]).toEqual([1, ['wallet.credited']])
  })

  test('its world is reset: the new world delivers its own events alone', async () => {
    const { world, receiver, respond } = await delivering()
    expect((await world.control('/reset')).status).toBe(200)
    respond(failing())
    const fresh = await world.again()
    const { id } = await hook(fresh, receiver.url)
    receiver.reply = () => new Response()
    await fund(fresh)
    await settle(fresh)
    expect(receiver.received).toHaveLength(2)
    expect(await attemptsOf(fresh, id)).toMatchObject([{ attempt: 1, status: 'delivered' }])
  })

  test('it is redelivered: a failure counts as the first of a new series', async () => {
    const { world, receiver, id, respond } = await delivering()
    const [{ event }] = receiver.received as [Receiver['received'][0]]
    expect((await world.post(`/api/v1/events/${event.id}/redeliver`)).status).toBe(202)
    respond(failing())
    await settle(world)
    await world.clock({ advance: 'PT30S' })
    await settle(world)
    const attempts = await attemptsOf(await world.again(), id)
    expect(attempts.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'retrying'],
      [2, 'retrying'],
    ])
  })
})
