import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { type Command, Option } from 'commander'
import { withDataOptions } from '../../config/options.ts'
import { parseMonth } from '../../config/values.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { problemList } from '../../kernel/problems.ts'
import { visible } from '../../kernel/visible.ts'
import { Comparison } from '../../reconciliation/comparison.ts'
import { ALWAYS, isIn, PartnerList } from '../../reconciliation/partner-list.ts'
import type { Problem } from '../../reconciliation/records.ts'
import { type Report, reportOf } from '../../reconciliation/report.ts'
import type { Period } from '../../wallets/statement-queries.ts'
import { dataError } from '../advice.ts'
import { EXIT, unusable } from '../exit.ts'
import type { Cell, List, Row } from '../terminal/cells.ts'
import { jsonList, jsonOf, type Result } from '../terminal/output.ts'
import { tableOf } from '../terminal/table.ts'
import { type Administration, administer } from './administration.ts'
import { CLIENT } from './client-kinds.ts'
import { get } from './kind.ts'
import { partingWords, reconciliationPage } from './reconcile-page.ts'

/** `scrip reconcile`: compares a partner's own list of orders and payouts with the ledger (contract C19). */
export const reconcileCommand = (reconciliation: Command): void => {
  withDataOptions(reconciliation)
    .description("compare a client's own list of orders and payouts with the ledger; exit with 1 if they differ")
    .argument('<client>', 'a username')
    .argument('<file>', 'its list as CSV or JSON lines; - for standard input')
    .addOption(
      new Option('--month <month>', 'only records made in this month, for example 2026-11, in UTC').argParser(
        parseMonth,
      ),
    )
    .addOption(new Option('--csv', 'print CSV, for spreadsheets').conflicts(['json', 'html']))
    .addOption(new Option('--html', 'print a page for a browser or a printer').conflicts(['json', 'csv']))
    .action(administer(reconcile))
}

const reconcile = async (
  { config, database, reference }: Administration,
  name: string,
  file: string,
  { month, html }: { month?: Period; html?: true },
): Promise<Result> => {
  const period = month ?? ALWAYS
  const client = get(CLIENT, database.query, name)
  const comparison = new Comparison(database.sqlite, client.id, period)
  const list = new PartnerList(reference, (row) => {
    if (list.problems.length === 0 && isIn(row, period)) comparison.add(row)
  })
  await read(file, list)
  if (list.problems.length > 0) throw unusable(problemList(`${file} has`, list.problems.map(wordsOf)))
  inLittleMemory(comparison.run())
  const report = reportOf(comparison, reference)
  if (!report.agrees) process.exitCode = EXIT.failed
  if (html) {
    const title = `${client.username}${month ? `, ${toTimestamp(month.sinceMs).slice(0, 'YYYY-MM'.length)}` : ''}`
    return { pieces: reconciliationPage(title, report) }
  }
  if (config.format === 'json') return { pieces: jsonPieces(report) }
  const findings = { columns: COLUMNS, rows: rowsOf(report) }
  return config.format === 'csv' ? findings : { pieces: textPieces(report, findings) }
}

/**
 * How many pieces of a list, or steps of a comparison, pass before memory is freed. Otherwise it grows while there is
 * more.
 */
const PIECES = 64

const inLittleMemory = (steps: Iterable<unknown>): void => {
  let count = 0
  for (const _ of steps) if (++count % PIECES === 0) Bun.gc(true)
}

const read = async (file: string, list: PartnerList): Promise<void> => {
  try {
    const source: Readable = file === '-' ? process.stdin : createReadStream(file)
    let count = 0
    for await (const text of source.setEncoding('utf8')) {
      list.push(text as string)
      if (++count % PIECES === 0) Bun.gc(true)
      if (list.isHopeless) break
    }
  } catch (error) {
    throw dataError(error, file)
  }
  list.end()
}

const wordsOf = ({ line, column, what }: Problem): string =>
  `line ${line}${column === null ? '' : `, ${column}`}: ${what}`

const SIDE = ['amount', 'currency', 'status', 'at'] as const

type Side = Readonly<Record<(typeof SIDE)[number], Cell>>

const side = (whose: 'our' | 'their', one?: Side): Row =>
  Object.fromEntries(SIDE.map((member) => [`${whose}_${member}`, one?.[member] ?? null]))

const COLUMNS = [
  ...['finding', 'type', 'reference', 'differs_in'],
  ...Object.keys({ ...side('our'), ...side('their') }),
  'times',
]

/** One list of all findings. */
function* rowsOf(report: Report): Generator<Row> {
  const row = (
    finding: string,
    { type, reference }: { type: string; reference: string },
    ours: Side | undefined,
    theirs: Side | undefined,
    others: Row = {},
  ) => ({
    ...{ finding, type, reference, differs_in: others.differs_in ?? null },
    ...side('our', ours),
    ...side('their', theirs),
    times: others.times ?? null,
  })
  for (const one of report.only_ours) yield row('only_ours', one, one, undefined)
  for (const one of report.only_theirs) yield row('only_theirs', one, undefined, one)
  for (const one of report.differs) yield row('differs', one, one.ours, one.theirs, { differs_in: one.members })
  for (const one of report.counted_twice) yield row('counted_twice', one, undefined, one, { times: one.times })
}

function* jsonPieces(report: Report): Generator<string> {
  yield `{"agrees":${report.agrees},"matched":${report.matched}`
  for (const name of ['only_ours', 'only_theirs', 'differs', 'counted_twice'] as const) {
    yield `,"${name}":`
    yield* jsonList(report[name])
  }
  yield `,"parts_at":${jsonOf(report.parts_at)}}\n`
}

function* textPieces({ agrees, matched, parts_at }: Report, list: List): Generator<string> {
  yield `${matched} match${agrees ? ', and nothing differs.' : '.'}\n`
  if (agrees) return
  if (parts_at) yield `${visible(partingWords(parts_at))}\n`
  yield '\n'
  yield* tableOf(list)
}
