import type { Session } from '../../sessions/sessions.ts'
import { markWritten } from '../worlds/written.ts'
import type { EventObserver } from './events.ts'
import type { ObservedRequest } from './request-log.ts'
import { watchRows, withChanges } from './row-changes.ts'

/** A session whose writes report their row changes and events to the request that makes them. */
export const watchedBy = (
  observed: ObservedRequest,
  session: Session,
  events: EventObserver,
  /** Whether somebody looks at requests while they happen: then the values of rows are recorded too. */
  isWatched: () => boolean,
): Session => {
  const { world } = session
  return {
    ...session,
    write: (work) => {
      const takesValues = isWatched()
      watchRows(world)
      return events.during(observed, world, (cause) =>
        session.write((tx) => {
          const { value, changes } = withChanges(world, takesValues, () => cause(() => work(tx)))
          observed.changes = [...observed.changes, ...changes]
          if (changes.length > 0) markWritten(world)
          return value
        }),
      )
    },
  }
}
