import type { List } from '../../acts/cells.ts'
import type { Narrowing } from '../../db/narrowing.ts'
import type { Reading } from '../records/administration.ts'
import { reconciled } from '../records/reconcile.ts'

/** A client's own list beside the ledger, on the desk: what the command finds, by its kind. */

/** The kinds in the order in which an operator looks at them (contract C20). */
const KINDS = ['differs', 'counted_twice', 'only_theirs', 'only_ours'] as const

/** A client's list, and the month that is compared. */
interface Comparison extends Pick<Narrowing, 'sinceMs' | 'untilMs'> {
  client: string
  file: string
  text: string
}

const found = (data: Reading, { client, file, text, sinceMs, untilMs }: Comparison) => {
  const month = sinceMs === undefined || untilMs === undefined ? undefined : { sinceMs, untilMs }
  return reconciled(data, client, file, () => text, month)
}

/** All findings, as the command prints them for spreadsheets. @throws ProgramError */
export const findingsOf = (data: Reading, comparison: Comparison): List => found(data, comparison).findings

/** @throws ProgramError for an unknown client, or a list that cannot be read */
export const reconciliationOf = (data: Reading, comparison: Comparison) => {
  const { sentences, findings } = found(data, comparison)
  const byKind = Map.groupBy(findings.rows, ({ finding }) => String(finding))
  const kinds = KINDS.map((kind) => {
    const rows = byKind.get(kind) ?? []
    const columns = findings.columns.filter((name) => name !== 'finding' && rows.some((row) => row[name] !== null))
    return { kind, columns, rows }
  })
  return { sentences, kinds }
}
