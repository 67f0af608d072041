import type { Static } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { visibleLines as visible } from '../../kernel/visible.ts'
import type { ExplainedDeliverySchema } from '../../webhooks/contract.ts'
import { Body } from './body.tsx'
import { Message } from './message.tsx'
import { Code, ms, Table, Tag } from './pieces.tsx'

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
  /** Undefined where they are not known. */
  attempts?: readonly (Attempt & { webhook_id: string })[]
  /** The contents beside its type; by default, the result of the last attempt for each webhook. */
  about?: ComponentChildren
  /** The address of its own page. */
  href?: string
  /** True if the address points at it. */
  isPointedAt?: boolean
  /** Its actions. */
  children?: ComponentChildren
}

/** An event in a list: a line, which opens its data, its deliveries and their responses. */
export const EventView = ({ event, attempts, about, href, isPointedAt = false, children }: Props) => {
  const { id, type, created_at, data } = event
  const last = new Map(attempts?.map((attempt) => [attempt.webhook_id, attempt]))
  const results = [...last.values()].map((attempt) => <Attempted key={attempt.id} {...attempt} />)
  return (
    <Message
      id={`event-${id}`}
      isOpen={isPointedAt}
      type={type}
      at={created_at}
      about={about ?? (results.length > 0 ? results : <span class="soft">no webhook listens to it</span>)}
    >
      <div class="line">
        <span class="mono soft">{href === undefined ? visible(id) : <a href={href}>{visible(id)}</a>}</span>
        {children}
      </div>
      {attempts && attempts.length > 0 && <Attempts attempts={attempts} />}
      {attempts?.map(
        ({ id: attempt, response_body: body }) =>
          body && (
            <Code key={attempt} label={`Response to attempt ${attempt}`}>
              {visible(body)}
            </Code>
          ),
      )}
      {data && <Body text={JSON.stringify(data)} label={`Data of ${id}`} />}
    </Message>
  )
}
