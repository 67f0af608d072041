import { arrow, box, drawing, label, labelledBox } from '../../pages/drawing.ts'
import { type Html, html } from '../../pages/html.ts'
import { ACCOUNTS, WALLETS } from '../seed/accounts.ts'
import { usernameIn } from './accounts.ts'

/** Draws a world beside another, with the contents of a new one. */

const [WORLD, GAP, LEFT, BOX, ARROW, LINE] = [300, 40, 12, 30, 44, 22]

/** A line of text, and how far it is indented. */
type Line = readonly [text: string, indent: number]

/** Each client of a new world with its wallets, and what else belongs to a world. */
const contentsOf = (name: string): Line[] => [
  ...ACCOUNTS.flatMap(({ id, username }) => {
    const wallets = WALLETS.filter(({ clientId }) => clientId === id)
    return [
      [`client ${usernameIn({ name }, username)}, with wallets of`, 0] as const,
      ...wallets.map(({ currency, amount }) => [`${amount.toLocaleString('en')} ${currency}`, 20] as const),
    ]
  }),
  ['orders, payouts, events and webhooks', 0],
  ['clock, rate limits, faults, request log', 0],
]

export const worldsPicture = (title: string, names: readonly string[]): Html => {
  const top = 8 + BOX + ARROW
  const height = (Math.max(...names.map((name) => contentsOf(name).length)) + 2) * LINE
  const bottom = top + height
  const width = names.length * (WORLD + GAP) - GAP
  const worlds = names.map((name, index) => {
    const x = LEFT + index * (WORLD + GAP)
    const middle = x + WORLD / 2
    const isKept = index === 0
    return html`${labelledBox(`test ${name}`, { x: x + 80, y: 8, width: WORLD - 160, height: BOX })}
${arrow(`M${middle} ${8 + BOX}V${top}`)}
${label(middle + 8, top - ARROW / 2 + 5, `logs in as ${usernameIn({ name }, ACCOUNTS[0].username)}`, 'start')}
${box({ x, y: top, width: WORLD, height })}
${label(middle, top + LINE, `world ${name}`)}
${contentsOf(name).map(([text, indent], at) => label(x + 16 + indent, top + (at + 2) * LINE, text, 'start'))}
${arrow(isKept ? `M${middle} ${bottom}V${bottom + ARROW}` : `M${middle} ${bottom + ARROW}V${bottom}`)}
${label(middle + 8, bottom + ARROW / 2 + 5, isKept ? 'keep' : 'restore', 'start')}`
  })
  return drawing(
    title,
    width + 2 * LEFT,
    bottom + ARROW + BOX + 8,
    html`${worlds}
${labelledBox('snapshots', { x: LEFT, y: bottom + ARROW, width, height: BOX })}`,
  )
}
