import { listenToEvents } from '../../events/publish.ts'
import { sinceStartMs } from '../../kernel/clock.ts'
import { type World, worldPart } from '../../work/world.ts'

/** The real time at which events were written. Their own time is that of the world, whose clock may stand or jump. */

interface Mark {
  realMs: number
  /** The number of the first event of this time. */
  eventId: number
}

/** Events of this time share a mark. */
const GRAIN_MS = 1_000
/** A whole day of events, one second after the other, is 86,400. */
const MARKS_MAX = 10_000

const marks = worldPart((): Mark[] => [])

export const noteEventTimes = (world: World): void => {
  listenToEvents(world, ({ id }) => {
    const all = world.of(marks)
    const last = all.at(-1)
    // An event that is undone with its transaction leaves its number to the next.
    if (last && (sinceStartMs() - last.realMs < GRAIN_MS || id <= last.eventId)) return
    all.push({ realMs: sinceStartMs(), eventId: id })
    if (all.length > MARKS_MAX) all.shift()
  })
}

/** The number of the last event before this much real time; undefined if nothing was written since. */
export const lastEventBefore = (world: World, agoMs: number): number | undefined => {
  const fromMs = sinceStartMs() - agoMs
  const first = world.of(marks).find(({ realMs }) => realMs + GRAIN_MS > fromMs)
  return first && first.eventId - 1
}
