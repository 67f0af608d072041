import { type World, worldPart } from './world.ts'

/** The request whose unit of work runs now: its id, and its trace, if it has one. */
interface Cause {
  requestId: string | null
  traceparent: string | null
}

/** Nobody has asked for the work. */
const NOBODY: Cause = { requestId: null, traceparent: null }

const running = worldPart<{ cause: Cause }>(() => ({ cause: NOBODY }))

/** Runs a unit of work for a request. */
export const causedBy = <T>(world: World, cause: Cause, work: () => T): T => {
  const current = world.of(running)
  current.cause = cause
  try {
    return work()
  } finally {
    current.cause = NOBODY
  }
}

export const causeIn = (world: World): Cause => world.of(running).cause
