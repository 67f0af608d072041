import fc from 'fast-check'
import { faultsIn } from '../expect.ts'
import { DEFAULT, type State, type World } from '../model.ts'
import type { Play } from '../play.ts'
import { command, worldNames } from './command.ts'

/** Worlds, snapshots and clocks (contract C15). */

const snapshotNames = fc.constantFrom('kept', 'other')
const ODD_NAMES = ['Upper', 'a b', 'x'.repeat(65), '%00', 'default', '', '..']
const YEAR_5000 = Date.parse('5000-01-01T00:00:00Z')

const listed = (expected: readonly string[]) => (json: unknown) =>
  faultsIn({ names: [(json as { name: string }[]).map(({ name }) => name).sort(), [...expected].sort()] })

/** A state that another world or a snapshot is in; a snapshot goes before a world of the same name. */
const stateNamed = ({ model }: Play, name: string): State | undefined =>
  model.snapshots.get(name) ?? model.worlds.get(name)?.state

/** The time that a clock shows after it was moved, as far as its response tells. */
const moved = (play: Play, world: World, json: unknown, real: { lo: number; hi: number }): string | undefined => {
  const { now, frozen } = json as { now: string; frozen: boolean }
  const time = Date.parse(now)
  const { clock } = world.state
  if (frozen) clock.frozenAt = time
  else {
    clock.frozenAt = null
    clock.offset = { lo: time - real.hi, hi: time - real.lo }
  }
  return faultsIn({ 'time after the move': [play.now(world, real).hi >= time, true] })
}

interface Move {
  now?: string
  advance?: string
  frozen?: boolean
}

const moveClock = async (play: Play, name: string, move: Move): Promise<void> => {
  const before = play.model.worlds.get(name)
  const from = before && play.now(before)
  await play.control({ operation: 'moveClock', body: move }, name, (world, response) => {
    const start =
      move.now === undefined ? play.now(world, response.real) : { lo: Date.parse(move.now), hi: Date.parse(move.now) }
    const advance = move.advance === undefined ? 0 : durationOf(move.advance)
    if (Number.isNaN(start.lo) || advance === undefined || start.hi + advance >= YEAR_5000) return { status: 400 }
    const isPast = from !== undefined && start.hi < from.lo
    // A world that has written nothing takes any time, once that is built (contract C15).
    if (isPast && response.status === 400) return { status: 400 }
    if (isPast && world.state.written) return { status: 400 }
    const wasFrozen = world.state.clock.frozenAt !== null
    const expected = {
      lo: start.lo + advance,
      hi: start.hi + advance + (wasFrozen ? 0 : response.real.hi - response.real.lo),
    }
    return {
      status: 200,
      fault: ({ json }) => {
        const { now, frozen } = json as { now: string; frozen: boolean }
        const time = Date.parse(now)
        const slack = frozen && wasFrozen ? 0 : response.real.hi - response.real.lo
        if (time < expected.lo - slack || time > expected.hi + slack) return `the clock shows ${now}`
        return faultsIn({ frozen: [frozen, move.frozen ?? wasFrozen] }) ?? moved(play, world, json, response.real)
      },
    }
  })
}

const UNITS: Record<string, number> = { W: 604_800_000, D: 86_400_000, H: 3_600_000, M: 60_000, S: 1_000 }
const durationOf = (text: string): number | undefined => {
  const match = /^P(T)?(\d+(?:\.\d{1,3})?)([WDHMS])$/.exec(text)
  return match ? Math.round(Number(match[2]) * (UNITS[match[3] ?? ''] ?? 0)) : undefined
}

const durations = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('PT1S', 'PT2S', 'PT3S', 'PT5S', 'PT0.999S', 'PT0S', 'PT10S') },
  { weight: 3, arbitrary: fc.constantFrom('PT1M', 'PT5M', 'PT4M', 'PT1H', 'P1D', 'P7D', 'P8D') },
  { weight: 1, arbitrary: fc.constantFrom('P1Y', '5M', '', 'PT', 'P100000W', 'soon') },
)
const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ advance: durations }) },
  { weight: 2, arbitrary: fc.record({ frozen: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ advance: durations, frozen: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        now: fc.constantFrom(
          '2030-01-01T00:00:00Z',
          '2040-06-01T12:00:00.500Z',
          '2000-01-01T00:00:00Z',
          'noon',
          '9999-01-01T00:00:00Z',
        ),
        frozen: fc.boolean(),
      },
      { requiredKeys: ['now'] },
    ),
  },
)

export const worldCommands = [
  command('move a clock', ['moveClock'], 10, {
    args: fc.record({ world: worldNames, move: moves }),
    run: (play, { world, move }) => moveClock(play, world, move),
  }),
  command('read a clock', ['getClock'], 1, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world: name }) => {
      await play.control({ operation: 'getClock' }, name, (world, response) => ({
        status: 200,
        fault: ({ json }) => {
          const { now, frozen } = json as { now: string; frozen: boolean }
          const { lo, hi } = play.now(world, response.real)
          const isRight = lo <= Date.parse(now) && Date.parse(now) <= hi
          return faultsIn({
            [`the time ${now}`]: [isRight, true],
            frozen: [frozen, world.state.clock.frozenAt !== null],
          })
        },
      }))
    },
  }),
  command('reset a world', ['resetWorld'], 3, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world }) => {
      await play.control({ operation: 'resetWorld' }, world, () => {
        play.model.put(world)
        return { status: 200, body: { world } }
      })
    },
  }),
  command('make a world', ['makeWorld'], 3, {
    args: fc.record({
      name: fc.constantFrom('a', 'b', 'sbx_a'),
      from: fc.constantFrom(undefined, undefined, DEFAULT, 'a', 'kept', 'sbx_b', 'nowhere'),
    }),
    run: async (play, { name, from }) => {
      const plain = name.replace(/^sbx_/, '')
      await play.open({ operation: 'makeWorld', id: name, body: from === undefined ? undefined : { from } }, () => {
        const state = from === undefined ? undefined : stateNamed(play, from.replace(/^sbx_/, ''))
        if (from !== undefined && !state) return { status: 404 }
        play.model.put(plain, state)
        return { status: 200, fault: ({ json }) => faultsIn({ name: [(json as { name: string }).name, plain] }) }
      })
    },
  }),
  command('make a world oddly', ['makeWorld', 'keepSnapshot'], 1, {
    args: fc.record({
      operation: fc.constantFrom('makeWorld', 'keepSnapshot'),
      name: fc.constantFrom(...ODD_NAMES),
      body: fc.constantFrom<unknown>(undefined, {}, { from: DEFAULT }),
    }),
    run: async (play, { operation, name, body }) => {
      await play.open({ operation, id: name, ...(operation === 'makeWorld' && { body }) }, () => ({
        status: [400, 404],
      }))
    },
  }),
  command('make a world with an odd body', ['makeWorld'], 1, {
    args: fc.record({
      text: fc.constantFrom(
        '{"constructor":1}',
        '{"__proto__":1}',
        '[]',
        '{',
        '{"from":1}',
        '{"form":"a"}',
        '{"toString":null}',
      ),
    }),
    run: async (play, { text }) => {
      await play.open({ operation: 'makeWorld', id: 'c', text }, () => ({ status: 400 }))
    },
  }),
  command('drop a world', ['dropWorld'], 2, {
    args: fc.record({ name: worldNames }),
    run: async (play, { name }) => {
      await play.open({ operation: 'dropWorld', id: name }, () => {
        if (name === DEFAULT) return { status: 400 }
        return { status: play.model.worlds.delete(name) ? 204 : 404 }
      })
    },
  }),
  command('list the worlds', ['listWorlds', 'getSandbox', 'listSnapshots'], 1, {
    args: fc.record({}),
    run: async (play) => {
      const { worlds, snapshots } = play.model
      await play.open({ operation: 'listWorlds' }, () => ({
        status: 200,
        fault: ({ json }) => listed([...worlds.keys()])(json),
      }))
      await play.open({ operation: 'getSandbox' }, () => ({
        status: 200,
        fault: ({ json }) =>
          faultsIn({ worlds: [(json as { worlds: string[] }).worlds.toSorted(), [...worlds.keys()].sort()] }),
      }))
      await play.open({ operation: 'listSnapshots' }, () => ({
        status: 200,
        fault: ({ json }) => listed([...snapshots.keys()])(json),
      }))
    },
  }),
  command('keep a snapshot', ['keepSnapshot'], 3, {
    args: fc.record({ world: worldNames, name: snapshotNames }),
    run: async (play, { world: of, name }) => {
      await play.control({ operation: 'keepSnapshot', id: name }, of, ({ state }) => {
        play.model.snapshots.set(name, structuredClone(state))
        return { status: 200, body: { name } }
      })
    },
  }),
  command('restore a snapshot', ['restoreSnapshot'], 3, {
    args: fc.record({ world: worldNames, name: snapshotNames }),
    run: async (play, { world, name }) => {
      await play.control({ operation: 'restoreSnapshot', id: name }, world, () => {
        const state = play.model.snapshots.get(name)
        if (!state) return { status: 404 }
        play.model.put(world, state)
        return { status: 200 }
      })
    },
  }),
  command('fetch a snapshot', ['getSnapshot'], 1, {
    args: fc.record({ name: snapshotNames }),
    run: async (play, { name }) => {
      await play.open({ operation: 'getSnapshot', id: name }, () => ({
        status: play.model.snapshots.has(name) ? 200 : 404,
      }))
    },
  }),
  command('delete a snapshot', ['deleteSnapshot'], 1, {
    args: fc.record({ name: snapshotNames }),
    run: async (play, { name }) => {
      await play.open({ operation: 'deleteSnapshot', id: name }, () => ({
        status: play.model.snapshots.delete(name) ? 204 : 404,
      }))
    },
  }),
]
