import { visibleLines as visible } from '../../kernel/visible.ts'
import { clockTime, time } from './pieces.tsx'

export interface TimelineStep {
  /** Null for a step that has no time yet. */
  at: string | null
  name: string
  note?: string | null
  /** True for a step that has not happened yet. */
  isNext?: boolean
}

interface Props {
  steps: readonly TimelineStep[]
  /** `steps` for steps side by side. */
  kind?: 'timeline' | 'steps'
}

/** The past and coming steps of a record. The date is shown when it differs from that of the previous step. */
export const Timeline = ({ steps, kind = 'timeline' }: Props) => (
  <ol class={kind}>
    {steps.map(({ at, name, note, isNext = at === null }, index) => (
      <li key={`${at} ${name} ${note}`} class={isNext ? 'next' : ''}>
        <strong>{name.replaceAll('_', ' ')}</strong>
        <span class="soft mono">
          {at === null ? 'not yet' : dateOf(at) === dateOf(steps[index - 1]?.at) ? clockTime(at) : time(at)}
        </span>
        {note && <span class="soft">{visible(note)}</span>}
      </li>
    ))}
  </ol>
)

const dateOf = (at: string | null | undefined): string | undefined => at?.slice(0, 10)

const GOOD = new Set(['DELIVERED', 'completed'])
const BAD = new Set(['FAILED', 'CANCELLED', 'failed', 'cancelled', 'expired'])
/** The colour of the status of an order or payout. */
export const kindOf = (status: string): string => (GOOD.has(status) ? 'good' : BAD.has(status) ? 'bad' : 'info')
