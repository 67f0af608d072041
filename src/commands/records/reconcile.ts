import { type Command, Option } from 'commander'
import { Amount, type List, type Row } from '../../acts/cells.ts'
import { CLIENT } from '../../acts/clients.ts'
import { field } from '../../acts/fields.ts'
import { get } from '../../acts/kind.ts'
import { parseMonth } from '../../config/values.ts'
import { EXIT, unusable } from '../../kernel/exit.ts'
import { toMinor } from '../../kernel/money.ts'
import { problemList } from '../../kernel/problems.ts'
import { visible } from '../../kernel/visible.ts'
import { compare } from '../../reconciliation/comparison.ts'
import { ALWAYS, type ListProblem, readList } from '../../reconciliation/partner-list.ts'
import { type Report, reportOf } from '../../reconciliation/report.ts'
import type { Reference } from '../../reference/reference.ts'
import type { Period } from '../../wallets/statement-queries.ts'
import { readInput } from '../advice.ts'
import { wideOption } from '../arguments.ts'
import { jsonOf, type Result } from '../terminal/output.ts'
import { tableOf } from '../terminal/table.ts'
import { administer, type Reading } from './administration.ts'
import { describe } from './records.ts'

/** `scrip reconcile`: compares a partner's own list of orders and payouts with the ledger (contract C19). */
export const reconcileCommand = (reconciliation: Command): void => {
  describe(reconciliation, { summary: `${COMPARES}; exit with 1 if they differ`, takes: RECONCILED })
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts('json'))
    .addOption(wideOption())
    .action(administer(reconcile, 'POST /reconcile'))
}

const COMPARES = "Compare a client's own list of orders and payouts with the ledger"

const RECONCILED = {
  client: field('<client>', 'a username'),
  file: field('<file>', 'its list as CSV or JSON lines', { isFile: true }),
  month: field<'--month <month>', Period>(
    '--month <month>',
    'only records made in this month, for example 2026-11, in UTC',
    { read: parseMonth },
  ),
}

interface ReconcileOptions {
  month?: Period
  wide?: true
}

const reconcile = (data: Reading, name: string, file: string, { month, wide }: ReconcileOptions): Result => {
  const { report, sentences, findings } = reconciled(data, name, file, () => readInput(file), month)
  if (!report.agrees) process.exitCode = EXIT.failed
  if (data.config.format === 'json') return { pieces: [`${jsonOf(report)}\n`] }
  return data.config.format === 'csv'
    ? findings
    : { pieces: textPieces(report, sentences, { ...findings, brief: BRIEF, isWide: wide === true }) }
}

/** Compares a list with the records of a client. @throws ProgramError for an unknown client, or a list that cannot be read */
export const reconciled = (
  { database, reference }: Reading,
  name: string,
  file: string,
  read: () => string,
  month: Period = ALWAYS,
) => {
  const client = get(CLIENT, database.query, name)
  const { rows, problems } = readList(read(), reference)
  if (problems.length > 0) throw unusable(problemList(`${file} has`, problems.map(wordsOf)))
  database.sqlite.run('BEGIN') // the comparison sees one state while a server writes
  const report = reportOf(compare(database.query, client.id, month, rows), reference)
  const amountIn = amountsOf(reference)
  return {
    report,
    sentences: wordsIn(report, amountIn),
    findings: { columns: COLUMNS, rows: rowsOf(report, amountIn) },
  }
}

const wordsOf = ({ line, column, what }: ListProblem): string =>
  `line ${line}${column === null ? '' : `, ${column}`}: ${what}`

const SIDE = ['amount', 'currency', 'status', 'at'] as const

type Side = Report['differs'][number]['ours']
type Found = { type: string; reference: string; members?: readonly string[]; times?: number }
type AmountIn = (amount: number, currency: string) => Amount

/** With all of its decimals, as every list shows it. */
const amountsOf =
  (reference: Reference): AmountIn =>
  (amount, code) => {
    const currency = reference.findCurrencyByCode(code) ?? { currency: code, precision: 0 }
    return new Amount(toMinor(amount, currency.precision) ?? 0, currency)
  }

const COLUMNS = [
  ...['finding', 'type', 'reference', 'differs_in'],
  ...['our', 'their'].flatMap((whose) => SIDE.map((member) => `${whose}_${member}`)),
  'times',
]

const BRIEF = ['finding', 'reference', 'differs_in', 'our_amount', 'their_amount', 'our_status', 'their_status']

/** One list of all findings. */
function* rowsOf(report: Report, amountIn: AmountIn): Generator<Row> {
  const side = (whose: 'our' | 'their', one: Side | undefined) => {
    const shown = one && { ...one, amount: amountIn(one.amount, one.currency) }
    return Object.fromEntries(SIDE.map((member) => [`${whose}_${member}`, shown?.[member] ?? null]))
  }
  const row = (finding: string, { type, reference, members, times }: Found, ours?: Side, theirs?: Side): Row => ({
    ...{ finding, type, reference, differs_in: members ?? null },
    ...{ ...side('our', ours), ...side('their', theirs), times: times ?? null },
  })
  for (const one of report.only_ours) yield row('only_ours', one, one)
  for (const one of report.only_theirs) yield row('only_theirs', one, undefined, one)
  for (const one of report.differs) yield row('differs', one, one.ours, one.theirs)
  for (const one of report.counted_twice) yield row('counted_twice', one, undefined, one)
}

/** Questions about the marks of a spreadsheet: the first name that lost its zeros, and the first amount that lost its point. */
const hintsIn = ({ only_ours, only_theirs, differs }: Report, amountIn: AmountIn): string[] => {
  const shortened = new Set(only_theirs.map(({ type, reference }) => `${type} ${reference}`))
  const lost = only_ours.find(({ type, reference }) => {
    return /^0\d+$/.test(reference) && shortened.has(`${type} ${withoutZeros(reference)}`)
  })
  const grown = differs.find(({ ours, theirs }) => {
    return (
      ours.currency === theirs.currency &&
      ours.amount > 0 &&
      amountOf(ours, amountIn) * 1000 === amountOf(theirs, amountIn)
    )
  })
  return [
    ...(lost
      ? [`${lost.type} ${lost.reference} is missing, ${withoutZeros(lost.reference)} is there: ${WHO_WROTE}`]
      : []),
    ...(grown ? [`The list has a thousand times the amount of ${grown.type} ${grown.reference}: ${WHO_WROTE}`] : []),
  ]
}

const WHO_WROTE = 'did a spreadsheet write this file?'
const withoutZeros = (reference: string): string => reference.replace(/^0+(?=\d)/, '')
const amountOf = ({ amount, currency }: Side, amountIn: AmountIn): number => amountIn(amount, currency).parts.minor

const wordsIn = (report: Report, amountIn: AmountIn): string[] => {
  const { agrees, matched, parts_at } = report
  const matching = `${matched} match${agrees ? ', and nothing differs.' : '.'}`
  if (!parts_at) return [matching, ...hintsIn(report, amountIn)]
  const { type, reference, at, currency, ours, theirs } = parts_at
  return [
    matching,
    `The sums in ${currency} diverge at ${type} ${reference}${at === null ? '' : `, ${at}`}: ${amountIn(ours, currency)} here, ${amountIn(theirs, currency)} in the list.`,
    ...hintsIn(report, amountIn),
  ]
}

function* textPieces({ agrees }: Report, sentences: readonly string[], findings: List): Generator<string> {
  for (const line of sentences) yield `${visible(line)}\n`
  if (agrees) return
  yield '\n'
  yield* tableOf(findings)
}
