import fc from 'fast-check'
import { faultsIn } from '../expect.ts'
import { DEFAULT, type State, type World } from '../model.ts'
import type { Play } from '../play.ts'
import { command, worldNames } from './command.ts'

/** Worlds, snapshots and clocks (contract C15). */

const snapshotNames = fc.constantFrom('kept', 'other')
const YEAR_5000 = Date.parse('5000-01-01T00:00:00Z')

/** The state of another world or a snapshot; a snapshot takes precedence over a world of the same name. */
const stateNamed = ({ model }: Play, name: string): State | undefined =>
  model.snapshots.get(name) ?? model.worlds.get(name)?.state

/** The time of a clock after it was moved, as precisely as its response tells. */
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
    // Only a world without writes accepts any time (contract C15).
    if (isPast && (world.state.written || response.status === 400)) return { status: 400 }
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
  command('drop a world', ['dropWorld'], 2, {
    args: fc.record({ name: worldNames }),
    run: async (play, { name }) => {
      await play.open({ operation: 'dropWorld', id: name }, () => {
        if (name === DEFAULT) return { status: 400 }
        return { status: play.model.worlds.delete(name) ? 204 : 404 }
      })
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
]
