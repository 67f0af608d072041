import { COUNT_FAULTS } from '../../db/counts.ts'
import checksSql from './checks.sql' with { type: 'text' }

/** A property that every database has at all times. Its query returns the rows that violate it, in order. */
interface Check {
  name: string
  /** The query. Its only column `fault` describes the fault and the row. */
  sql: string
}

export const FILE_CHECK: Check = {
  name: 'the file is whole',
  sql: "SELECT integrity_check AS fault FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
}

/** The checks of `scrip verify` (contract C11 to C13). */
export const CHECKS: readonly Check[] = [
  ...Array.from(checksSql.matchAll(/^-- name: (.+)\n([^;]+);$/gm), ([, name = '', sql = '']) => ({ name, sql })),
  { name: 'totals are those of the records', sql: COUNT_FAULTS },
]
