import fc from 'fast-check'
import { ADA, HUNDRED } from '../../records.ts'
import type { Call, Play, Who } from '../play.ts'
import { command, worldNames } from './command.ts'
import { brokenDown } from './request-log.ts'
import { logIn } from './sessions.ts'

/** Requests whose body is still on its way while something happens to whoever sent them (contract C3). */

const WRITES: readonly Call[] = [
  { operation: 'createBeneficiary', body: ADA },
  { operation: 'placeOrder', body: { product_id: 1, denomination: 100, quantity: 1 } },
  { operation: 'createPayout', body: { ...HUNDRED, reference_id: 'held', amount: 1 } },
]
const EVENTS = ['log out', 'token expires', 'reset', 'drop'] as const

/** A body of which the second half comes when it is told to. */
const heldBody = (text: string): { stream: ReadableStream<Uint8Array>; finish: () => void } => {
  const half = Math.floor(text.length / 2)
  const bytes = (part: string) => new TextEncoder().encode(part)
  const rest = Promise.withResolvers<void>()
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes(text.slice(0, half))),
    pull: async (controller) => {
      await rest.promise
      controller.enqueue(bytes(text.slice(half)))
      controller.close()
    },
  })
  return { stream, finish: rest.resolve }
}

const happens = async (
  play: Play,
  event: (typeof EVENTS)[number],
  { world: name }: Who,
  access: string,
): Promise<void> => {
  const world = play.model.world(name)
  if (event === 'log out') {
    const response = await play.send({ operation: 'logout' }, access)
    play.compare({ operation: 'logout' }, response, { status: 200 })
    play.model.loggedOut(world, 'sandbox')
  } else if (event === 'token expires') {
    if (world.state.clock.frozenAt === null) await play.freeze(world)
    await play.send({ operation: 'moveClock', query: `world=${name}`, body: { advance: 'PT1H' } })
    world.state.clock.frozenAt = (world.state.clock.frozenAt ?? 0) + 3_600_000
  } else if (event === 'drop' && name !== 'default') {
    await play.send({ operation: 'dropWorld', id: name })
    play.model.worlds.delete(name)
  } else {
    await play.send({ operation: 'resetWorld', query: `world=${name}` })
    play.model.put(name)
  }
}

/** A body that breaks off in the middle, as when its sender goes away. */
const brokenBody = (): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"email":')),
    pull: (controller) => controller.error(new Error('gone')),
  })

export const heldCommands = [
  command('go away in the middle of a body', ['createBeneficiary', 'listRequests'], 1, {
    args: fc.record({ world: worldNames, nth: fc.nat(WRITES.length - 1) }),
    run: async (play, { world, nth }) => {
      const who: Who = { world, client: 'sandbox' }
      if ((play.model.worlds.get(world)?.faults.length ?? 0) > 0 || play.model.limits !== undefined) return
      if (play.tokenOf(who) === undefined) await logIn(play, who)
      const write = WRITES[nth]
      if (write === undefined) return
      await play.settle()
      const { url, method } = play.locate(write)
      play.lines.push(`${method} ${url} and goes away`)
      const headers = { authorization: `Bearer ${play.tokenOf(who)}` }
      const { status } = await play.program.ask(url, { method, headers, body: brokenBody() })
      if (status >= 500) play.fail(`who went away got ${status}`)
      await play.control({ operation: 'listRequests' }, world, () => ({
        status: 200,
        fault: ({ json }) => brokenDown(json),
      }))
    },
  }),
  command(
    'hold a body back until its token is dead',
    ['createBeneficiary', 'placeOrder', 'createPayout', 'logout'],
    2,
    {
      args: fc.record({
        world: worldNames,
        nth: fc.nat(WRITES.length - 1),
        event: fc.constantFrom(...EVENTS),
        keyed: fc.boolean(),
      }),
      run: async (play, { world, nth, event, keyed }) => {
        const who: Who = { world, client: 'sandbox' }
        if ((play.model.worlds.get(world)?.faults.length ?? 0) > 0 || play.model.limits !== undefined) return
        // A token of before the clock was put back would live on.
        if (event === 'token expires' || play.tokenOf(who) === undefined) await logIn(play, who)
        const access = play.tokenOf(who)
        const write = WRITES[nth]
        if (access === undefined || write === undefined) return
        // A token that was verified before lets the request in without waiting.
        await play.api(who, { operation: 'getCountry', id: 1 }, () => ({ status: 200 }))
        await play.settle()
        const headers = keyed ? { 'idempotency-key': play.freshName('held body') } : {}
        const { stream, finish } = heldBody(JSON.stringify(write.body))
        const pending = play.send({ ...write, headers }, access, stream)
        // Once the response to this is there, the request before it has been let in.
        await play.send({ operation: 'isAlive' })
        await happens(play, event, who, access)
        play.lines.push('the rest of the body')
        finish()
        play.compare(write, await pending, { status: 401 })
      },
    },
  ),
]
