import { visibleLines as visible } from '../../kernel/visible.ts'
import { clockTime, time } from './pieces.tsx'

export interface Step {
  at: string
  name: string
  note?: string | null
  /** True for a step that has not happened yet. */
  isNext?: boolean
}

/** The past and coming steps of a record. The date is shown when it differs from that of the previous step. */
export const Timeline = ({ steps }: { steps: readonly Step[] }) => (
  <ol class="timeline">
    {steps.map(({ at, name, note, isNext }, index) => (
      <li key={`${at} ${name} ${note}`} class={isNext ? 'next' : ''}>
        <strong>{name}</strong>
        <span class="soft mono">{dateOf(at) === dateOf(steps[index - 1]?.at) ? clockTime(at) : time(at)}</span>
        {note && <span class="soft">{visible(note)}</span>}
      </li>
    ))}
  </ol>
)

const dateOf = (at: string | undefined): string | undefined => at?.slice(0, 10)

const GOOD = new Set(['DELIVERED', 'completed'])
const BAD = new Set(['FAILED', 'CANCELLED', 'failed', 'cancelled', 'expired'])
/** The colour of the status of an order or payout. */
export const kindOf = (status: string): string => (GOOD.has(status) ? 'good' : BAD.has(status) ? 'bad' : 'info')
