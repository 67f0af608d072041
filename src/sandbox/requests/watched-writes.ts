import type { Session } from '../../sessions/sessions.ts'
import type { Parts } from '../parts.ts'
import { markWritten } from '../worlds/written.ts'
import { EventObserver } from './events.ts'
import type { ObservedRequest } from './request-log.ts'
import { watchRows, withChanges } from './row-changes.ts'

interface Options extends Pick<Parts, 'worlds' | 'coverage'> {
  /** Whether somebody watches requests as they happen: the values of rows are recorded only then. */
  isWatched: () => boolean
}

/** Reports the row changes and the events of writes to the request that makes them. */
export class WatchedWrites {
  readonly #events: EventObserver

  constructor(private readonly options: Options) {
    const { worlds, coverage } = options
    this.#events = new EventObserver((world, { type }) => coverage.countEvent(world, type, 'count'))
    worlds.onPresent((world) => this.#events.watch(world))
  }

  /** The session with which a request writes. */
  writing(observed: ObservedRequest, session: Session): Session {
    const { world } = session
    return {
      ...session,
      write: (work) => {
        const takesValues = this.options.isWatched()
        watchRows(world)
        return this.#events.during(observed, world, (cause) =>
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
}
