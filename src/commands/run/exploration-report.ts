import type { Consequence, Difference, Tally } from '../../sandbox/explore/comparison.ts'
import type { Plan, PlannedLoss } from '../../sandbox/explore/plan.ts'
import { amountText, type Purchase } from '../../sandbox/explore/statement.ts'
import { redactedBody } from '../../sandbox/requests/redaction.ts'
import type { Row } from '../cells.ts'
import { tableOf } from '../table.ts'

/** A loss, and what it led to. */
export interface ExploredLoss extends PlannedLoss {
  /** `cut off`: the command was ended after its time limit, and nothing was done again until then. */
  consequence: Consequence | 'cut off' | 'not reached'
  differences: readonly Difference[]
}

/** What an exploration prints: the losses that led to something, each with its request and the proof, and a summary. */
export const explorationReport = ({ writeCount, losses }: Plan, explored: readonly ExploredLoss[]): string => {
  if (writeCount === 0) return 'explore: the command wrote nothing to this sandbox. Is SCRIP_URL its base URL?\n'
  const found = explored.filter(({ consequence }) => consequence === 'too many' || consequence === 'too few')
  const rows = found.flatMap(rowsOf)
  const table = tableOf({ columns: Object.keys(rows[0] ?? {}), rows })
    .join('')
    .trimEnd()
  const sections = found.length > 0 ? [table, ...found.map(proofOf)] : []
  return [...sections, summaryOf(writeCount, losses, explored)].join('\n\n').concat('\n')
}

/** An indented block shows a text as it is, whatever clients have sent. */
export const asMarkdown = (report: string): string => `### Scrip: lost responses\n\n${report.replace(/^/gm, '    ')}\n`

const rowsOf = ({ write, loss, consequence, differences }: ExploredLoss, index: number): Row[] =>
  differences.map((difference) => ({
    '#': index + 1,
    result: consequence,
    request: `${write.method} ${write.route}`,
    'response lost': `${loss.when} its commit`,
    world: write.world.name,
    of: nameOf(difference),
    'without the loss': tallyText(difference, difference.expected),
    'with it': tallyText(difference, difference.found),
  }))

const nameOf = ({ example: { what, payee } }: Difference): string => (payee === null ? what : `${what} for ${payee}`)

const tallyText = ({ example: { currency } }: Difference, { kept, paidMinor }: Tally): string =>
  `${kept.length}, paid ${amountText(paidMinor, currency)}`

const BODY_CHARACTERS_MAX = 400
const LEDGER_LINES_MAX = 6

/** The request, and what the ledger of its world says. */
const proofOf = ({ write, differences }: ExploredLoss, index: number): string => {
  const body = redactedBody(write.body) ?? ''
  const sent = body.length > BODY_CHARACTERS_MAX ? `${body.slice(0, BODY_CHARACTERS_MAX)}…` : body
  const purchases = differences.flatMap(({ found: { kept } }) => kept)
  const ledger = purchases.length > 0 ? purchases.slice(0, LEDGER_LINES_MAX).map(ledgerText) : ['nothing in the ledger']
  if (purchases.length > LEDGER_LINES_MAX) ledger.push(`and ${purchases.length - LEDGER_LINES_MAX} more`)
  return [
    `#${index + 1} ${write.method} ${write.route} of ${write.client} ${sent}`.trimEnd(),
    ...ledger.map((line) => `   ${line}`),
  ].join('\n')
}

const ledgerText = ({ source, paidMinor, currency, walletId, entryIds }: Purchase): string =>
  `${source}, ${amountText(paidMinor, currency)} from wallet ${walletId}, ledger entry ${entryIds}`

const summaryOf = (writeCount: number, losses: readonly PlannedLoss[], explored: readonly ExploredLoss[]): string => {
  const count = (consequence: ExploredLoss['consequence']) =>
    explored.filter((loss) => loss.consequence === consequence).length
  const exploredWrites = new Set(losses.map(({ write }) => write)).size
  const lines = [
    `explore: ${exploredWrites} of ${writeCount} writes, ${explored.length} of ${losses.length} lost responses`,
    `  ${count('too many')} led to an order or a payout too many`,
    `  ${count('too few')} led to an order or a payout too few, and the command succeeded`,
    `  ${count('failed')} made the command fail, and nothing was done twice`,
    `  ${count('none')} changed nothing`,
  ]
  const cutOff = count('cut off')
  if (cutOff > 0) lines.push(`  ${cutOff} made the command take too long: see --explore-timeout`)
  const missed = count('not reached')
  if (missed > 0) lines.push(`  ${missed} did not occur: the command does not make the same writes in every run`)
  return lines.join('\n')
}
