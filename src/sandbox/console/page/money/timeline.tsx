import { clockTime, time, visible } from '../ui.tsx'

export interface Step {
  at: string
  name: string
  note?: string | null
  /** It has not happened yet. */
  isNext?: boolean
}

/** What has happened to a record, and what will. The date stands where it is another one than before. */
export const Timeline = ({ steps }: { steps: readonly Step[] }) => (
  <ol class="timeline">
    {steps.map(({ at, name, note, isNext }, index) => (
      <li key={`${at} ${name}`} class={isNext ? 'next' : ''}>
        <strong>{name}</strong>
        <span class="soft mono">{dateOf(at) === dateOf(steps[index - 1]?.at) ? clockTime(at) : time(at)}</span>
        {note && <span class="soft">{visible(note)}</span>}
      </li>
    ))}
  </ol>
)

const dateOf = (at: string | undefined): string | undefined => at?.slice(0, 10)

/** What the clock does by itself. */
export const nextStep = (at: string | null, name = 'next by the clock'): Step[] =>
  at === null ? [] : [{ at, name, isNext: true }]
