import { useState } from 'preact/hooks'
import { Button, Form, Input } from '../../../../pages/ui/forms.tsx'
import { useLoaded } from '../../../../pages/ui/hooks.ts'
import { act } from '../../../../pages/ui/notices.tsx'
import { Card, Empty, Failed, time } from '../../../../pages/ui/pieces.tsx'
import { Timeline } from '../../../../pages/ui/timeline.tsx'
import { recordIdOf } from '../../../requests/in-words.ts'
import { ask, get } from '../api.ts'
import { useNews } from '../store.ts'
import type { Clock, Due } from '../types.ts'

const STEPS = { '+1 min': 'PT1M', '+1 h': 'PT1H', '+1 day': 'P1D', '+7 days': 'P7D' } as const
const DUE_SHOWN = '8'
const HAPPENED_SHOWN = 20
const DELIVERED_MS = 1_000

/** The clock of a world, and its next steps. */
export const ClockCard = ({ world }: { world: string }) => {
  const on = [world, useNews()]
  const clock = useLoaded(() => get<Clock>('/clock', { world }), on)
  const due = useLoaded(() => get<Due[]>('/due', { world, query: { limit: DUE_SHOWN } }), on)
  const [happened, setHappened] = useState<Clock['happened']>()
  const [to, setTo] = useState('')
  const { now = '', frozen = false } = clock.value ?? {}
  const move = (body: object, done?: string) =>
    act(async () => {
      setHappened((await ask<Clock>('POST', '/clock', { world, body })).happened)
      // Deliveries that were due are made meanwhile.
      setTimeout(due.reload, DELIVERED_MS)
    }, done)
  const next = due.value?.find(({ at }) => at > now)
  const toggle = () => move({ frozen: !frozen }, frozen ? 'The clock runs' : 'The clock stands still')
  const freeze = <Button text={`Freeze ${world}`} aria-pressed={frozen} onClick={toggle} />
  return (
    <Card title={`Clock of ${world}`} aside={freeze}>
      <Failed error={clock.error ?? due.error} />
      <p class="big" aria-live="polite">
        {time(now)}
      </p>
      <div class="line">
        {Object.entries(STEPS).map(([name, advance]) => (
          <Button
            key={name}
            text={name}
            aria-label={`Advance the clock by ${name.slice(1)}: ${world}`}
            onClick={() => move({ advance })}
          />
        ))}
        <Button text="Skip to next" disabled={!next} onClick={() => next && move({ now: next.at })} />
        <Button text="Now" aria-label="Now: read the clock again" onClick={clock.reload} />
      </div>
      <Form class="line" onSubmit={() => move({ now: to })}>
        <Input aria-label="Set the clock to" placeholder="2030-01-01T12:00:00Z" required value={to} onText={setTo} />
        <button type="submit" aria-label={`Set the clock of ${world}`}>
          Set
        </button>
      </Form>
      <h3>Next due</h3>
      {due.value?.length === 0 && <Empty>Nothing is scheduled.</Empty>}
      <Timeline
        steps={(due.value ?? []).map(({ at, kind, id, next: name, attempt, webhook }) => {
          return { at, name, note: kind === 'delivery' ? `attempt ${attempt} for ${webhook}` : `${kind} ${id}` }
        })}
      />
      {happened && <Happened events={happened} />}
    </Card>
  )
}

const Happened = ({ events }: { events: Clock['happened'] }) => (
  <>
    <h3>What the last move did</h3>
    {events.length === 0 && <Empty>No order or payout has moved.</Empty>}
    <Timeline
      steps={events.slice(0, HAPPENED_SHOWN).map((event) => {
        return { at: event.created_at, name: event.type, note: recordIdOf(event) }
      })}
    />
    {events.length > HAPPENED_SHOWN && <p class="soft">and {events.length - HAPPENED_SHOWN} more</p>}
  </>
)
