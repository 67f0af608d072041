import { type World, worldPart } from './world.ts'

/** The trace of the request whose unit of work runs now; null if it has none, or nobody has asked for the work. */
const cause = worldPart<{ traceparent: string | null }>(() => ({ traceparent: null }))

/** Runs a unit of work for a request that belongs to a trace. */
export const inTrace = <T>(world: World, traceparent: string, work: () => T): T => {
  const own = world.of(cause)
  own.traceparent = traceparent
  try {
    return work()
  } finally {
    own.traceparent = null
  }
}

export const traceOf = (world: World): string | null => world.of(cause).traceparent
