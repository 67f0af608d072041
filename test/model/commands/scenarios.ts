import fc from 'fast-check'
import { ADA } from '../../records.ts'
import { command, worldNames } from './command.ts'

/** Worlds made of requests, and the feed of what happens in one (contract C15). */

const STEPS = [
  { name: 'ada', method: 'POST', path: '/api/v1/beneficiaries', body: ADA },
  { method: 'GET', path: '/api/v1/beneficiaries/{{ada.id}}', as: 'limited', expect: 404 },
]

const BAD: readonly unknown[] = [
  { more: 1 },
  { steps: 'none' },
  { steps: [{ method: 'GET', path: '/openapi.json' }] },
  { steps: [...STEPS, { method: 'GET', path: '/api/v1/orders/{{ada.id}}' }] },
]

export const scenarioCommands = [
  command('make a world of requests', ['loadScenario', 'resetWorld'], 2, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world: name }) => {
      await play.control({ operation: 'loadScenario', body: { steps: STEPS } }, name, () => ({ status: 200 }))
      // What the steps made is new to the model: it goes on with a world that it knows.
      await play.control({ operation: 'resetWorld' }, name, () => {
        play.model.put(name)
        return { status: 200, body: { world: name } }
      })
    },
  }),
  command('play what is no scenario, or stops', ['loadScenario'], 1, {
    args: fc.record({ world: worldNames, nth: fc.nat(BAD.length - 1) }),
    run: async (play, { world, nth }) => {
      await play.control({ operation: 'loadScenario', body: BAD[nth] }, world, () => ({ status: 400 }))
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
