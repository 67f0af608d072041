import type { Delivery } from '../types.ts'
import { ms, Tag } from '../ui.tsx'

const second = (at: string): string => at.slice(11, 19)

/** Attempts to deliver events. */
export const Attempts = ({ attempts }: { attempts: readonly Delivery[] }) => (
  <table class="attempts">
    <thead>
      <tr>
        <th>Event</th>
        <th>Try</th>
        <th>At</th>
        <th>Result</th>
        <th>Next</th>
      </tr>
    </thead>
    <tbody>
      {attempts.map(
        ({ id, event_type, attempt, created_at, status, response_status, error, duration_ms, next_attempt_at }) => (
          <tr key={id}>
            <td>{event_type}</td>
            <td>{attempt}</td>
            <td class="mono">{second(created_at)}</td>
            <td title={`after ${ms(duration_ms)}`}>
              <Tag kind={status === 'delivered' ? 'good' : 'bad'}>
                {status} {response_status ?? error ?? ''}
              </Tag>
            </td>
            <td class="mono">{next_attempt_at === null ? '' : second(next_attempt_at)}</td>
          </tr>
        ),
      )}
    </tbody>
  </table>
)
