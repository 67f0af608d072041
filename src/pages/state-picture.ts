import type { Transition } from '../kernel/states.ts'
import { arrow, drawing, LETTER, label, labelledBox } from './drawing.ts'
import { type Html, html } from './html.ts'

/** Draws a state machine from its table. */

type Table = Readonly<Record<string, Pick<Transition<{ status: string }>, 'from' | 'to' | 'act' | 'afterMs'>>>

const [COLUMN, ROW, WIDTH, HEIGHT, TOP, LEFT] = [216, 60, 176, 30, 64, 8]

interface Box {
  status: string
  x: number
  y: number
}

interface Line {
  name: string
  from: string
  to: string
  isByClock: boolean
}

/**
 * The statuses through which the clock leads stand in the first row. Each other status has a row of its own, below the last of the
 * statuses that lead to it.
 */
export const statePicture = (title: string, first: string, table: Table): Html => {
  const all = Object.entries(table).flatMap(([name, { from, to, afterMs }]) =>
    from.map((status): Line => ({ name, from: status, to: to ?? status, isByClock: afterMs !== undefined })),
  )
  const [loops, lines] = [all.filter(({ from, to }) => from === to), all.filter(({ from, to }) => from !== to)]
  const main = [first]
  for (const { from, to, isByClock } of lines) if (isByClock && from === main.at(-1)) main.push(to)
  // Statuses that lead back to the first row come first, and then those that they lead to: no line crosses a box.
  const rankOf = (status: string): number => {
    if (lines.some(({ from, to }) => from === status && main.includes(to))) return 0
    return lines.some(({ from, to }) => to === status && !main.includes(from)) ? 1 : 2
  }
  const others = [...new Set(lines.map(({ to }) => to))]
    .filter((status) => !main.includes(status))
    .sort((one, other) => rankOf(one) - rankOf(other))
  const columnOf = (status: string): number => {
    const sources = lines.filter(({ to }) => to === status).map(({ from }) => main.indexOf(from))
    return Math.max(0, ...sources) + 0.4
  }
  const boxes = new Map<string, Box>([
    ...main.map((status, column) => [status, { status, x: LEFT + column * COLUMN, y: TOP }] as const),
    ...others.map((status, row) => {
      const [x, y] = [LEFT + columnOf(status) * COLUMN, TOP + (row + 1) * ROW]
      return [status, { status, x, y }] as const
    }),
  ])
  const lineOf = ({ name, from: source, to: target }: Line): Html => {
    const [from, to] = [boxes.get(source), boxes.get(target)]
    if (!from || !to) return html``
    if (main.includes(target)) {
      if (to.y !== from.y) return leadingBack(name, from, to)
      return to.x - from.x === COLUMN
        ? arrow(`M${from.x + WIDTH} ${from.y + HEIGHT / 2}H${to.x}`)
        : above(name, from, to)
    }
    // The lines to the rows below leave a box side by side.
    const x = from.x + 24 + ((others.length - others.indexOf(target)) * 56) / others.length
    return arrow(`M${x} ${from.y + HEIGHT}V${to.y + HEIGHT / 2}H${x < to.x ? to.x : to.x + WIDTH}`)
  }
  const loopsByStatus = [...Map.groupBy(loops, ({ from }) => from)].map(
    ([status, around]) => [boxes.get(status), [...new Set(around.map(({ name }) => name))].join(', ')] as const,
  )
  const sides = loopsByStatus.map(([box, names]) => (box && box.y > TOP ? box.x + names.length * LETTER + 22 : 0))
  const width = Math.max(...sides, ...[...boxes.values()].map(({ x }) => x + LETTER * 9)) + WIDTH + LEFT
  const height = TOP + others.length * ROW + HEIGHT + 8
  return drawing(
    title,
    width,
    height,
    html`${lines.map(lineOf)}
${[...boxes.values()].map(({ status, x, y }) => labelledBox(status, { x, y, width: WIDTH, height: HEIGHT }))}
${loopsByStatus.map(([box, names]) => box && loop(names, box))}`,
  )
}

/** From a status to itself. */
const loop = (names: string, { x, y }: Box): Html =>
  y === TOP
    ? html`${arrow(`M${x + 108} ${y}v-14h-40v14`)}${label(x + WIDTH / 2, y - 20, names)}`
    : html`${arrow(`M${x + WIDTH} ${y + 8}h16v14h-16`)}${label(x + WIDTH + 22, y + 20, names, 'start')}`

/** Over the statuses between. */
const above = (name: string, from: Box, to: Box): Html =>
  html`${arrow(`M${from.x + WIDTH - 20} ${from.y}v-44H${to.x + 20}V${to.y}`)}${label((from.x + to.x + WIDTH) / 2, from.y - 50, name)}`

/** Up to a status of the first row. */
const leadingBack = (name: string, from: Box, to: Box): Html => {
  const x = to.x + WIDTH - 16
  const isBelow = x > from.x && x < from.x + WIDTH
  const path = isBelow ? `M${x} ${from.y}V${to.y + HEIGHT}` : `M${from.x + WIDTH} ${from.y + 4}H${x}V${to.y + HEIGHT}`
  return html`${arrow(path)}${label(x + 6, from.y - 10, name, 'start')}`
}
