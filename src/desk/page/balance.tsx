import { Card } from '../../pages/ui/pieces.tsx'
import type { Story } from './data.ts'

type Day = NonNullable<Story['balance']>[number]

const [WIDTH, HEIGHT] = [600, 100]

const dateOf = ({ at }: Day): string => at.slice(0, 10)

/** The balance of a wallet at the end of each day, as a line above or below zero. */
export const Balance = ({ days }: { days: readonly Day[] }) => {
  const [first, last] = [days[0], days.at(-1)]
  if (!first || !last) return null
  const byAmount = days.toSorted((one, other) => one.minor - other.minor)
  const [lowest = first, highest = first] = [byAmount[0], byAmount.at(-1)]
  const [bottom, top] = [Math.min(0, lowest.minor), Math.max(1, highest.minor)]
  const heightOf = (minor: number): number => HEIGHT - ((minor - bottom) / (top - bottom)) * HEIGHT
  const points = [first, ...days].map(({ minor }, index) => `${(index / days.length) * WIDTH},${heightOf(minor)}`)
  const said = `From ${dateOf(first)} to ${dateOf(last)}: lowest ${lowest.amount} on ${dateOf(lowest)}, highest ${highest.amount} on ${dateOf(highest)}, now ${last.amount}`
  return (
    <Card title="Balance" aside={<span class="soft">at the end of each day, in UTC</span>}>
      <svg
        class="balance"
        role="img"
        aria-label="Balance"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        <line x1="0" x2={WIDTH} y1={heightOf(0)} y2={heightOf(0)} />
        <polyline points={points.join(' ')} />
      </svg>
      <p class="soft">{said}</p>
    </Card>
  )
}
