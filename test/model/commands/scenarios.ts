import fc from 'fast-check'
import { faultsIn } from '../expect.ts'
import { command, worldNames } from './command.ts'

/** A world as one document, and the feed of what happens in it (contract C15). */

const BAD: readonly unknown[] = [
  { more: 1 },
  { wallets: [{ currency: 'XXX' }] },
  { orders: [{ product_id: 77_777, denomination: 1, quantity: 1 }] },
  { clients: 'none' },
  { payouts: [{ status: 'gone' }] },
]

export const scenarioCommands = [
  command('write a world down and load it again', ['getScenario', 'loadScenario', 'resetWorld'], 2, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world: name }) => {
      const written = await play.control({ operation: 'getScenario' }, name, (world, response) => {
        play.model.catchUp(world, play.now(world, response.real).lo)
        return { status: 200 }
      })
      if (written.status !== 200) return
      await play.control({ operation: 'loadScenario', body: written.json }, name, () => ({ status: 200 }))
      const { clock: before, ...document } = written.json as Record<string, unknown>
      await play.control({ operation: 'getScenario' }, name, () => ({
        status: 200,
        fault: ({ json }) => {
          const { clock: after, ...again } = json as Record<string, unknown>
          return faultsIn({ 'what was loaded': [again, document], clock: [typeof after, typeof before] })
        },
      }))
      // Ids and times of what was loaded are new: the model goes on with a world that it knows.
      await play.control({ operation: 'resetWorld' }, name, () => {
        play.model.put(name)
        return { status: 200, body: { world: name } }
      })
    },
  }),
  command('load what is not a scenario', ['loadScenario', 'getScenarioSchema'], 1, {
    args: fc.record({ world: worldNames, nth: fc.nat(BAD.length - 1) }),
    run: async (play, { world, nth }) => {
      await play.control({ operation: 'loadScenario', body: BAD[nth] }, world, () => ({ status: 400 }))
      await play.open({ operation: 'getScenarioSchema' }, () => ({ status: 200 }))
    },
  }),
  command('open the feed', ['openFeed'], 1, {
    args: fc.record({ world: worldNames, since: fc.constantFrom(undefined, '0', '7', 'odd') }),
    run: async (play, { world: name, since }) => {
      const { url } = play.locate({ operation: 'openFeed', query: `world=${name}` })
      play.lines.push(`GET ${url} until it begins`)
      const response = await play.program.follow(url, since === undefined ? {} : { 'last-event-id': since })
      const isThere = play.model.worlds.has(name)
      if (response.status !== (isThere ? 200 : 404)) play.fail(`openFeed: got ${response.status}`)
    },
  }),
]
