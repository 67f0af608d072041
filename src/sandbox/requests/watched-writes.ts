import type { Session } from '../../sessions/sessions.ts'
import { listenToEvents } from '../../webhooks/publish.ts'
import { markWritten } from '../worlds/written.ts'
import type { ObservedRequest } from './request-log.ts'
import { watchRows, withChanges } from './row-changes.ts'

/**
 * The session with which a request writes: it notes the rows and the events that the request has written, and the values of the
 * rows where somebody watches requests as they happen.
 */
export const watchedSession = (observed: ObservedRequest, session: Session, isWatched: boolean): Session => {
  const { world } = session
  return {
    ...session,
    write: async (work) => {
      watchRows(world)
      let events: string[] = []
      const value = await session.write((tx) => {
        events = [] // of a unit of work that was undone and runs again
        using _ = listenToEvents(world, ({ eventId }) => events.push(eventId))
        const written = withChanges(world, isWatched, () => work(tx))
        observed.changes = [...observed.changes, ...written.changes]
        if (written.changes.length > 0) markWritten(world)
        return written.value
      })
      observed.events.push(...events)
      return value
    },
  }
}
