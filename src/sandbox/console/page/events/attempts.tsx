import type { Delivery } from '../types.ts'
import { Attempted, ms, Table } from '../ui.tsx'

const second = (at: string | null): string => at?.slice(11, 19) ?? ''

/** Attempts to deliver events. */
export const Attempts = ({ attempts }: { attempts: readonly Delivery[] }) => (
  <Table
    kind="attempts"
    headings={['Event', 'Try', 'At', 'Result', 'Next']}
    rows={attempts.map((attempt) => [
      attempt.id,
      attempt.event_type,
      attempt.attempt,
      <span class="mono">{second(attempt.created_at)}</span>,
      <span title={`after ${ms(attempt.duration_ms)}`}>
        <Attempted {...attempt} />
      </span>,
      <span class="mono">{second(attempt.next_attempt_at)}</span>,
    ])}
  />
)
