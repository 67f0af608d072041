import { arrow, drawing, label, labelledBox } from './drawing.ts'
import { type Html, html } from './html.ts'

/** Draws the attempts to deliver an event from the pauses between them. */

const UNITS = [
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** `1 h 12 min 30 s` */
const durationOf = (ms: number): string => {
  let left = ms / 1_000
  const parts = UNITS.map(([name, seconds]) => {
    const count = Math.floor(left / seconds)
    left -= count * seconds
    return count > 0 ? `${count} ${name}` : ''
  })
  return parts.filter(Boolean).join(' ')
}

const [COLUMN, WIDTH, HEIGHT, TOP, LEFT, BELOW] = [124, 76, 30, 32, 16, 70]

export const attemptsPicture = (title: string, pausesMs: readonly number[]): Html => {
  const startsMs = [0, ...pausesMs.map((_, index) => pausesMs.slice(0, index + 1).reduce((sum, ms) => sum + ms, 0))]
  const xOf = (index: number): number => LEFT + index * COLUMN
  const [bottom, end] = [TOP + HEIGHT, xOf(startsMs.length)]
  const attempts = startsMs.map((ms, index) => {
    const [x, pauseMs] = [xOf(index), pausesMs[index]]
    const middle = x + WIDTH / 2
    return html`${label(middle, TOP - 12, index === 0 ? 'at once' : durationOf(ms))}
${labelledBox(`attempt ${index + 1}`, { x, y: TOP, width: WIDTH, height: HEIGHT })}
${arrow(`M${x + WIDTH} ${TOP + HEIGHT / 2}H${xOf(index + 1)}`)}
${pauseMs !== undefined && label(x + (WIDTH + COLUMN) / 2, TOP + HEIGHT / 2 + 18, durationOf(pauseMs))}
${arrow(`M${middle} ${bottom}V${bottom + BELOW - HEIGHT}`)}`
  })
  return drawing(
    title,
    end + WIDTH + LEFT,
    bottom + BELOW + 8,
    html`${attempts}
${labelledBox('failed', { x: end, y: TOP, width: WIDTH, height: HEIGHT })}
${label(LEFT + WIDTH / 2 + 6, bottom + 24, '2xx', 'start')}
${labelledBox('delivered', { x: LEFT, y: bottom + BELOW - HEIGHT, width: end - COLUMN + WIDTH - LEFT, height: HEIGHT })}`,
  )
}
