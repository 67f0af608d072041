import type { CoverageReport } from '../../sandbox/requests/operations.ts'

type Outcome = CoverageReport['outcomes'][number]

/**
 * JUnit XML as CI systems read it: an operation is a suite, each documented outcome a test case, which is skipped if it
 * was not met (contract C15).
 */
export const toJUnit = ({ documented, exercised, outcomes }: CoverageReport): string => {
  const suites = Map.groupBy(outcomes, ({ method, path }) => `${method} ${path}`)
  const counts = countsOf(documented, documented - exercised)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="Documented outcomes" ${counts}>`,
    ...[...suites].flatMap(([name, cases]) => suiteOf(name, cases)),
    '</testsuites>\n',
  ].join('\n')
}

const suiteOf = (name: string, cases: readonly Outcome[]): string[] => {
  const skipped = cases.filter(({ count }) => count === 0).length
  return [
    `  <testsuite name="${escaped(name)}" ${countsOf(cases.length, skipped)}>`,
    ...cases.map(caseOf),
    '  </testsuite>',
  ]
}

const caseOf = ({ operation, status, name, count }: Outcome): string => {
  const head = `    <testcase classname="${escaped(operation)}" name="${escaped(`${status} ${name}`)}" time="0"`
  return count > 0 ? `${head}/>` : `${head}><skipped message="not met"/></testcase>`
}

const countsOf = (tests: number, skipped: number): string =>
  `tests="${tests}" failures="0" errors="0" skipped="${skipped}" time="0"`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
