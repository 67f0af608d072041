import type { Static } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { visibleLines as visible } from '../../kernel/visible.ts'
import type { ExplainedDeliverySchema } from '../../webhooks/contract.ts'
import { Body } from './body.tsx'
import { Code, clockTime, ms, Table, Tag } from './pieces.tsx'

export type Attempt = Static<typeof ExplainedDeliverySchema> & {
  /** True if the signature of the received message verifies; null or undefined if that is not known. */
  verifies?: boolean | null
}

const Attempted = ({ status, response_status, error }: Attempt) => (
  <Tag kind={status === 'delivered' ? 'good' : 'bad'}>
    {status} {response_status ?? error ?? ''}
  </Tag>
)

const second = (at: string | null): string => at?.slice(11, 19) ?? ''

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

interface Props {
  event: { id: string; type: string; created_at: string; data?: object }
  attempts: readonly (Attempt & { webhook_id: string })[]
  /** The address of its own page. */
  href: string
  /** Its actions. */
  children?: ComponentChildren
}

/** An event below its record: a line with the result of the last attempt for each webhook, which opens its data and its deliveries. */
export const EventView = ({ event, attempts, href, children }: Props) => {
  const { id, type, created_at, data } = event
  const last = new Map(attempts.map((attempt) => [attempt.webhook_id, attempt]))
  return (
    <li>
      <details>
        <summary>
          <strong>{visible(type)}</strong> {last.size === 0 && <span class="soft">no webhook listens to it</span>}
          {Array.from(last.values(), (attempt) => (
            <Attempted key={attempt.id} {...attempt} />
          ))}
          <span class="soft mono at">{clockTime(created_at)}</span>
        </summary>
        <div class="line">
          <a class="mono" href={href}>
            {visible(id)}
          </a>
          {children}
        </div>
        {attempts.length > 0 && <Attempts attempts={attempts} />}
        {attempts.map(
          ({ id: attempt, response_body: body }) =>
            body && (
              <Code key={attempt} label={`Response to attempt ${attempt}`}>
                {visible(body)}
              </Code>
            ),
        )}
        {data && <Body text={JSON.stringify(data)} label={`Data of ${id}`} />}
      </details>
    </li>
  )
}
