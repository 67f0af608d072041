import { useState } from 'preact/hooks'
import { ask, get } from '../api.ts'
import { useNews } from '../store.ts'
import type { Clock, Due } from '../types.ts'
import { act, Card, Empty, Failed, time, useLoaded, visible } from '../ui.tsx'

const STEPS = { '+1 min': 'PT1M', '+1 h': 'PT1H', '+1 day': 'P1D', '+7 days': 'P7D' } as const
const DUE_SHOWN = '8'
const HAPPENED_SHOWN = 20
const DELIVERED_MS = 1_000

/** The clock of a world, and what it moves next. */
export const ClockCard = ({ world }: { world: string }) => {
  const news = useNews()
  const clock = useLoaded(() => get<Clock>('/clock', { world }), [world])
  const due = useLoaded(() => get<Due[]>('/due', { world, query: { limit: DUE_SHOWN } }), [world, news])
  const [happened, setHappened] = useState<Clock['happened']>()
  const [to, setTo] = useState('')
  const read = () => {
    clock.reload()
    due.reload()
  }
  const move = (body: object, done?: string) =>
    act(async () => {
      const moved = await ask<Clock>('POST', '/clock', { world, body })
      setHappened(moved.happened)
      read()
      // Deliveries that were due are made meanwhile.
      setTimeout(read, DELIVERED_MS)
    }, done)
  const isFrozen = clock.value?.frozen ?? false
  const next = due.value?.find(({ at }) => at > (clock.value?.now ?? at))
  return (
    <Card
      title={`Clock of ${world}`}
      aside={
        <button
          type="button"
          aria-pressed={isFrozen}
          onClick={() => move({ frozen: !isFrozen }, isFrozen ? 'The clock runs' : 'The clock stands still')}
        >
          {isFrozen ? 'Frozen' : 'Freeze'}
        </button>
      }
    >
      <Failed error={clock.error ?? due.error} />
      <p class="big" aria-live="polite">
        {clock.value ? time(clock.value.now) : '…'}
      </p>
      <div class="line">
        {Object.entries(STEPS).map(([name, advance]) => (
          <button
            key={name}
            type="button"
            aria-label={`Advance the clock by ${name.slice(1)}`}
            onClick={() => move({ advance })}
          >
            {name}
          </button>
        ))}
        <button type="button" disabled={!next} onClick={() => next && move({ now: next.at })}>
          Skip to next
        </button>
        <button type="button" aria-label="Now: read the clock again" onClick={read}>
          Now
        </button>
      </div>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          void move({ now: to })
        }}
      >
        <input
          aria-label="Set the clock to"
          placeholder="2030-01-01T12:00:00Z"
          required
          value={to}
          onInput={(event) => setTo(event.currentTarget.value)}
        />
        <button type="submit">Set</button>
      </form>
      <h3>Next due</h3>
      {due.value?.length === 0 && <Empty>Nothing waits for the clock.</Empty>}
      <ol class="due">
        {(due.value ?? []).map(({ at, kind, id, next: type, attempt, webhook }) => (
          <li key={`${at} ${kind} ${id} ${webhook}`}>
            <span class="mono">{time(at)}</span> <strong>{type}</strong>
            <span class="soft">
              {kind === 'delivery' ? `attempt ${attempt} for ${visible(webhook ?? '')}` : `${kind} ${id}`}
            </span>
          </li>
        ))}
      </ol>
      {happened && <Happened events={happened} />}
    </Card>
  )
}

const Happened = ({ events }: { events: Clock['happened'] }) => (
  <>
    <h3>What the last move did</h3>
    {events.length === 0 && <Empty>No order or payout has moved.</Empty>}
    <ol class="due">
      {events.slice(0, HAPPENED_SHOWN).map((event) => (
        <li key={event.id}>
          <span class="mono">{time(event.created_at)}</span> <strong>{event.type}</strong>
          <span class="soft">{visible(String(event.data.id ?? ''))}</span>
        </li>
      ))}
    </ol>
    {events.length > HAPPENED_SHOWN && <p class="soft">and {events.length - HAPPENED_SHOWN} more</p>}
  </>
)
