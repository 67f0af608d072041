import { ms, Table, Tag } from './pieces.tsx'

/** An attempt to deliver an event. */
export interface Attempt {
  id: number
  event_type: string
  attempt: number
  status: string
  response_status: number | null
  error: string | null
  duration_ms: number
  next_attempt_at: string | null
  created_at: string
  /** True if the signature of the received message verifies; null or undefined if that is not known. */
  verifies?: boolean | null
}

/** The result of an attempt to deliver an event. */
export const Attempted = ({ status, response_status, error }: Attempt) => (
  <Tag kind={status === 'delivered' ? 'good' : 'bad'}>
    {status} {response_status ?? error ?? ''}
  </Tag>
)

const second = (at: string | null): string => at?.slice(11, 19) ?? ''

/** Attempts to deliver events. */
export const Attempts = ({ attempts }: { attempts: readonly Attempt[] }) => (
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
        {attempt.verifies === true && <span class="soft"> signature verifies</span>}
        {attempt.verifies === false && <Tag kind="bad">wrong signature</Tag>}
      </span>,
      <span class="mono">{second(attempt.next_attempt_at)}</span>,
    ])}
  />
)
