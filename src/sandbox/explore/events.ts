import type { Event } from '../../events/queries.ts'
import { EVENT_TYPES, type EventType } from '../../events/types.ts'
import { isFollowed } from '../../webhooks/queue-queries.ts'
import type { World } from '../../worlds/world.ts'
import type { DeliveryFault } from '../webhooks/delivery-faults.ts'

/** The events that a command is sent while it runs, and what `scrip run --explore` does to them (decision 49). */

const EVENT_FAULTS = ['duplicate', 'reorder', 'late'] as const satisfies readonly DeliveryFault[]

/** What becomes of all events of one type in one run. */
export interface EventFault {
  type: EventType
  how: (typeof EVENT_FAULTS)[number]
}

export class EventLog {
  /** Of each type that was sent, whether the next event of a record ever waited behind it. */
  readonly #sent = new Map<EventType, { isFollowed: boolean }>()
  /** Whether the fault was injected. */
  wasInjected = false
  #isOver = false

  constructor(private readonly fault?: EventFault) {}

  /** Called at the first attempt of each delivery. Returns what becomes of it. */
  attempted({ db: { query } }: World, webhookId: string, event: Event): EventFault['how'] | undefined {
    if (this.#isOver) return undefined
    const isNextWaiting = isFollowed(query, webhookId, event)
    const before = this.#sent.get(event.type)
    this.#sent.set(event.type, { isFollowed: isNextWaiting || before?.isFollowed === true })
    if (event.type !== this.fault?.type) return undefined
    // Held back for an event that never comes, it would be lost.
    if (this.fault.how === 'reorder' && !isNextWaiting) return undefined
    this.wasInjected = true
    return this.fault.how
  }

  /** Called when the command has ended: nothing receives what comes now. */
  end(): void {
    this.#isOver = true
  }

  /** The faults that can be injected. */
  get faults(): EventFault[] {
    return EVENT_TYPES.flatMap((type) => {
      const sent = this.#sent.get(type)
      if (!sent) return []
      return EVENT_FAULTS.filter((how) => how !== 'reorder' || sent.isFollowed).map((how) => ({ type, how }))
    })
  }
}
