import { describe, expect, test } from 'bun:test'
import { forFile, startServer, TestWorld } from '../harness.ts'
import { folderTest } from '../program.ts'
import { NOON } from '../records.ts'
import { attemptsOf, fund, hook, openReceiver, type Receiver, receiversOfFile, settle } from './webhooks.ts'

/** Deliveries of copies of a world, and of worlds that nobody uses. */

const server = forFile(await startServer('--rate-limit', 'off'))

const receiving = receiversOfFile()

/** A receiver that responds to nothing until it is released. */
const holding = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const receiver = receiving(async () => {
    await promise
    return new Response('ok')
  })
  return { receiver, release: resolve }
}
const put = async (path: string, body?: object): Promise<number> =>
  (await server.request(`/_sandbox${path}`, { method: 'PUT', ...(body && { body: JSON.stringify(body) }) })).status
const settleWorld = (name: string, on = server) =>
  on.request(`/_sandbox/webhooks/settle?world=${name}`, { method: 'POST' })
const eventIds = ({ received }: Receiver): string[] => received.map(({ event }) => event.id)

describe('A copy in the middle of a delivery', () => {
  test.each<[string, (world: TestWorld, copy: string) => Promise<number>]>([
    ['a copy of a world', (world, copy) => put(`/worlds/${copy}`, { from: world.name })],
    [
      'a snapshot',
      async (world, copy) => {
        await put(`/snapshots/of-${copy}?world=${world.name}`)
        return put(`/worlds/${copy}`, { from: `of-${copy}` })
      },
    ],
  ])('%s waits for the response, and does not deliver the event again', async (_, copyTo) => {
    const [world, { receiver, release }] = [await server.world(NOON), holding()]
    const { id } = await hook(world, receiver.url)
    await fund(world)
    await receiver.until(1)
    const copy = `${world.name}-copy`
    const copied = copyTo(world, copy)
    release()
    expect(await copied).toBe(200)
    await settleWorld(copy)
    await settle(world)
    expect(receiver.received).toHaveLength(1)
    const inCopy = await TestWorld.open(server, copy)
    expect(await attemptsOf(inCopy, id)).toEqual(await attemptsOf(world, id))
    await fund(inCopy)
    await settle(inCopy)
    expect(receiver.received).toHaveLength(2)
  })

  test('the events behind it are delivered for both, once each', async () => {
    const [world, { receiver, release }] = [await server.world(NOON), holding()]
    await hook(world, receiver.url)
    await fund(world)
    await fund(world)
    await receiver.until(1)
    const copied = put(`/worlds/${world.name}-behind`, { from: world.name })
    // Its response says that the copy, which was requested before, has begun to wait.
    await server.request('/livez')
    release()
    await copied
    await Promise.all([settle(world), settleWorld(`${world.name}-behind`)])
    const [first, ...second] = eventIds(receiver)
    expect(second).toHaveLength(2)
    expect(second[0]).toBe(second[1])
    expect(second).not.toContain(first)
  })
})

describe('A world that nobody uses', () => {
  test('delivers the retries that its copy was made with', async () => {
    const world = await server.world(NOON)
    let status = 503
    const receiver = openReceiver(() => new Response('', { status }))
    await hook(world, receiver.url)
    await fund(world)
    await settle(world)
    await put(`/worlds/${world.name}-idle`, { from: world.name })
    status = 200
    const moved = await server.request(`/_sandbox/clock?world=${world.name}-idle`, {
      method: 'POST',
      body: '{"advance":"PT30S"}',
    })
    expect(moved.status).toBe(200)
    await receiver.until(2)
    expect(new Set(eventIds(receiver)).size).toBe(1)
  })

  folderTest('delivers after a restart what an earlier process was delivering', async (folder) => {
    const { receiver, release } = holding()
    const earlier = await startServer('--data-dir', folder)
    const world = await earlier.world(NOON)
    await hook(world, receiver.url)
    await fund(world)
    await receiver.until(1)
    await earlier.kill()
    release()
    await using later = await startServer('--data-dir', folder)
    await receiver.until(2)
    await settleWorld(world.name, later)
    expect(new Set(eventIds(receiver)).size).toBe(1)
  })
})
