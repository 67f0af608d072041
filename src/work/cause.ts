import { type World, worldPart } from './world.ts'

/** The request or the act whose unit of work runs now: its id, and the trace of a request, if it has one. */
interface Cause {
  requestId: string | null
  traceparent: string | null
  act: string | null
}

/** Nobody has asked for the work. */
const NOBODY: Cause = { requestId: null, traceparent: null, act: null }

const running = worldPart<{ cause: Cause }>(() => ({ cause: NOBODY }))

/** Runs a unit of work for a request or an act. */
export const causedBy = <T>(world: World, cause: Partial<Cause>, work: () => T): T => {
  const current = world.of(running)
  current.cause = { ...NOBODY, ...cause }
  try {
    return work()
  } finally {
    current.cause = NOBODY
  }
}

export const causeIn = (world: World): Cause => world.of(running).cause
