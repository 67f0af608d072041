import type { Report } from '../../reconciliation/report.ts'
import { headOf, rowOf } from './statement-page.ts'

/** A reconciliation as a page to print (contract C19). */
export function* reconciliationPage(title: string, report: Report): Generator<string> {
  yield headOf(`Reconciliation of ${title}`)
  yield `<p>${report.matched} match${report.agrees ? ', and nothing differs' : ''}.</p>\n`
  if (report.parts_at) yield `<p>${Bun.escapeHTML(partingWords(report.parts_at))}</p>\n`
  yield* table('Only here', report.only_ours, (one) => rowOf(named(one, one.at), [money(one)]))
  yield* table('Only in the list', report.only_theirs, (one) => rowOf(named(one, one.at), [money(one)]))
  yield* table('Differs', report.differs, ({ ours, theirs, members, ...name }) =>
    rowOf(
      [...named({ ...name, status: `${ours.status} / ${theirs.status ?? '-'}` }, ours.at), members.join(', ')],
      [money(ours), money(theirs)],
    ),
  )
  yield* table('Counted twice in the list', report.counted_twice, (one) =>
    rowOf(named(one, one.at), [money(one), String(one.times)]),
  )
  yield '</body>\n</html>\n'
}

const named = (one: { type: string; reference: string; status: string | null }, at: string | null): string[] => [
  at ?? '-',
  one.type,
  one.reference,
  one.status ?? '-',
]

const money = ({ amount, currency }: { amount: number; currency: string }): string => `${amount} ${currency}`

/** Empty if there are no rows. */
function* table<One>(heading: string, rows: Iterable<One>, row: (one: One) => string): Generator<string> {
  let isEmpty = true
  for (const one of rows) {
    if (isEmpty) yield `<h2>${heading}</h2>\n<table>\n`
    isEmpty = false
    yield row(one)
  }
  if (!isEmpty) yield '</table>\n'
}

export const partingWords = ({
  type,
  reference,
  at,
  currency,
  ours,
  theirs,
}: NonNullable<Report['parts_at']>): string =>
  `The sums in ${currency} diverge at ${type} ${reference}${at === null ? '' : `, ${at}`}: ${ours} here, ${theirs} in the list.`
