import type { Row } from '../../../acts/cells.ts'
import { counted } from '../../../kernel/counted.ts'
import type { Consequence, Difference, Tally } from '../../../sandbox/explore/comparison.ts'
import type { Plan, PlannedRun } from '../../../sandbox/explore/plan.ts'
import { amountText, type Purchase } from '../../../sandbox/explore/statement.ts'
import type { Loss, Write } from '../../../sandbox/explore/writes.ts'
import { REPEATED_BY } from '../../../sandbox/requests/in-words.ts'
import { redactedBody } from '../../../sandbox/requests/redaction.ts'
import { tableOf } from '../../terminal/table.ts'

/** A run with a fault, and its result. */
export interface ExploredRun extends PlannedRun {
  /**
   * - `cut off`: the command was ended after its time limit, and nothing was done again until then;
   * - `not reached`: the command did not make the write whose response was to be lost.
   */
  consequence: Consequence | 'cut off' | 'not reached'
  differences: readonly Difference[]
  /** The same bytes were sent again and done again, which an HTTP client may do by itself. */
  isResent: boolean
}

/**
 * The output of an exploration: the losses with a consequence, each with its request and the proof, and a summary.
 */
export const explorationReport = ({ writeCount, runs }: Plan, explored: readonly ExploredRun[]): string => {
  if (writeCount === 0) return 'explore: the command wrote nothing to this sandbox. Is SCRIP_URL its base URL?\n'
  const found = foundIn(explored)
  const rows = found.flatMap(rowsOf)
  const table = [...tableOf({ columns: Object.keys(rows[0] ?? {}), rows })].join('').trimEnd()
  const sections = found.length > 0 ? [table, ...found.map(proofOf)] : []
  return [...sections, summaryOf(writeCount, runs, explored)].join('\n\n').concat('\n')
}

const foundIn = (explored: readonly ExploredRun[]): ExploredRun[] =>
  explored.filter(({ consequence }) => consequence === 'too many' || consequence === 'too few')

/** A row for each difference that a lost response made. */
export const findingsOf = (explored: readonly ExploredRun[]): Row[] => foundIn(explored).flatMap(rowsOf)

const rowsOf = ({ loss, write, consequence, differences }: ExploredRun, index: number): Row[] =>
  differences.map((difference) => ({
    '#': index + 1,
    result: consequence,
    request: `${write.method} ${write.route}`,
    fault: faultText(loss),
    world: write.world.name,
    of: nameOf(difference),
    'without the fault': tallyText(difference, difference.expected),
    'with it': tallyText(difference, difference.found),
  }))

const faultText = ({ when }: Loss): string => `response lost ${when} its commit`

const nameOf = ({ example: { what, payee } }: Difference): string => (payee === null ? what : `${what} for ${payee}`)

const tallyText = ({ example: { currency } }: Difference, { kept, paidMinor }: Tally): string =>
  currency ? `${kept.length}, paid ${amountText(paidMinor, currency)}` : `${kept.length}`

const BODY_CHARACTERS_MAX = 400
const LEDGER_LINES_MAX = 6

const RESENT = `   The same request was sent and done again: ${REPEATED_BY}. See: scrip docs clients`

/** The request, and the ledger entries of its world. */
const proofOf = ({ write, differences, isResent }: ExploredRun, index: number): string => {
  const purchases = differences.flatMap(({ found: { kept } }) => kept)
  const ledger = purchases.length > 0 ? purchases.slice(0, LEDGER_LINES_MAX).map(ledgerText) : ['nothing in the ledger']
  if (purchases.length > LEDGER_LINES_MAX) ledger.push(`and ${purchases.length - LEDGER_LINES_MAX} more`)
  const lines = [`#${index + 1} ${requestText(write)}`, ...ledger.map((line) => `   ${line}`)]
  return [...lines, ...(isResent ? [RESENT] : [])].join('\n')
}

const requestText = ({ method, route, client, body }: Write): string => {
  const whole = redactedBody(body) ?? ''
  const sent = whole.length > BODY_CHARACTERS_MAX ? `${whole.slice(0, BODY_CHARACTERS_MAX)}…` : whole
  return `${method} ${route} of ${client} ${sent}`.trimEnd()
}

const ledgerText = ({ source, paidMinor, currency, walletId, entryIds }: Purchase): string =>
  currency ? `${source}, ${amountText(paidMinor, currency)} from wallet ${walletId}, ledger entry ${entryIds}` : source

const summaryOf = (writeCount: number, runs: readonly PlannedRun[], explored: readonly ExploredRun[]): string => {
  const count = (consequence: ExploredRun['consequence']) =>
    explored.filter((run) => run.consequence === consequence).length
  const lines = [
    headOf(writeCount, runs, explored),
    `  ${count('too many')} led to an order, a payout or a beneficiary too many`,
    `  ${count('too few')} led to an order, a payout or a beneficiary too few, and the command succeeded`,
    `  ${count('failed')} made the command fail, and nothing was done twice`,
    `  ${count('none')} changed nothing`,
  ]
  const cutOff = count('cut off')
  if (cutOff > 0) lines.push(`  ${cutOff} made the command take too long: see --explore-timeout`)
  const missed = count('not reached')
  if (missed > 0) lines.push(`  ${missed} did not occur: the command does not make the same writes in every run`)
  return lines.join('\n')
}

const headOf = (writeCount: number, runs: readonly PlannedRun[], explored: readonly ExploredRun[]): string => {
  const writes = new Set(runs.map(({ write }) => write)).size
  return `explore: ${writes} of ${counted(writeCount, 'write')}, ${explored.length} of ${counted(runs.length, 'lost response')}`
}
