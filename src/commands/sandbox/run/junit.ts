import type { CoverageReport } from '../../../sandbox/requests/coverage.ts'

type Outcome = CoverageReport['outcomes'][number]

/**
 * JUnit XML as CI systems read it: an operation is a suite, and each documented outcome and type of event is a test
 * case. An outcome that was not met is skipped (contract C15).
 */
export const toJUnit = ({ documented, exercised, outcomes, events }: CoverageReport): string => {
  const suites = Map.groupBy(outcomes, ({ method, path }) => `${method} ${path}`)
  const missed = events.filter(({ count }) => count === 0).length
  const counts = countsOf(documented + events.length, documented - exercised + missed)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="Documented outcomes" ${counts}>`,
    ...[...suites].flatMap(([name, cases]) => suiteOf(name, cases.map(caseOf))),
    ...suiteOf(
      'Events',
      events.map(({ type, count }) => ({ classname: 'events', name: type, count })),
    ),
    '</testsuites>\n',
  ].join('\n')
}

interface Case {
  classname: string
  name: string
  count: number
}

const suiteOf = (name: string, cases: readonly Case[]): string[] => {
  const skipped = cases.filter(({ count }) => count === 0).length
  return [
    `  <testsuite name="${Bun.escapeHTML(name)}" ${countsOf(cases.length, skipped)}>`,
    ...cases.map(textOf),
    '  </testsuite>',
  ]
}

const caseOf = ({ operation, status, name, count }: Outcome): Case => ({
  classname: operation,
  name: `${status} ${name}`,
  count,
})

const textOf = ({ classname, name, count }: Case): string => {
  const head = `    <testcase classname="${Bun.escapeHTML(classname)}" name="${Bun.escapeHTML(name)}" time="0"`
  return count > 0 ? `${head}/>` : `${head}><skipped message="not met"/></testcase>`
}

const countsOf = (tests: number, skipped: number): string =>
  `tests="${tests}" failures="0" errors="0" skipped="${skipped}" time="0"`
