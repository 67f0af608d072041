import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { Attempted, Attempts } from '../../../../pages/ui/attempts.tsx'
import { Body } from '../../../../pages/ui/body.tsx'
import { clockTime } from '../../../../pages/ui/pieces.tsx'
import { hrefOf } from '../place.ts'
import type { RequestDetail } from '../types.ts'

/** The events that a request caused, and the results of their deliveries. */
export const Effects = ({ recorded, world }: { recorded: RequestDetail; world: string }) => {
  const { events, caused, deliveries } = recorded
  return (
    <ul class="events">
      {events.map((id) => {
        const event = caused.find((each) => each.id === id)
        const attempts = deliveries.filter(({ event_id }) => event_id === id)
        return (
          <li key={id}>
            <details>
              <summary>
                <strong>{event?.type ?? attempts[0]?.event_type ?? 'event'}</strong> <Outcome attempts={attempts} />
                {event && <span class="soft mono at">{clockTime(event.created_at)}</span>}
              </summary>
              <p class="mono soft">
                <a href={hrefOf({ page: 'events', world, record: `event-${id}` })}>{visible(id)}</a>
              </p>
              {attempts.length > 0 && <Attempts attempts={attempts} />}
              {event && <Body text={JSON.stringify(event.data)} label={`Data of ${event.type}`} />}
            </details>
          </li>
        )
      })}
    </ul>
  )
}

/** The last attempt for each webhook. */
const Outcome = ({ attempts }: { attempts: RequestDetail['deliveries'] }) => {
  if (attempts.length === 0) return <span class="soft">not delivered to anyone</span>
  const last = new Map(attempts.map((attempt) => [attempt.webhook_id, attempt]))
  return [...last.values()].map((attempt) => <Attempted key={attempt.id} {...attempt} />)
}
