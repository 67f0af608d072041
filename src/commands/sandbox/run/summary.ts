import { eventShareOf, notMet, type OutcomeNames, shareOf } from './coverage.ts'
import { errorOf, type FailedRequest } from './failed-requests.ts'
import type { Ended } from './writers.ts'

/** The result of a run, as the Markdown that GitHub shows for a job. */
export const toMarkdown = ({ exitCode, report, shortfall, comparison, failed }: Ended): string =>
  [
    `### Scrip: the command ${exitCode === 0 ? 'succeeded' : `failed with exit code ${exitCode}`}\n`,
    `${shareOf(report)}.${shortfall === undefined ? '' : ' **That is too few.**'}\n`,
    `${eventShareOf(report)}.\n`,
    ...(comparison ? [...folded('Not met, but in the base', comparison.noLongerMet)] : []),
    ...(comparison ? [...folded('Met, but not in the base', comparison.newlyMet)] : []),
    ...folded('Not met', notMet(report)),
    ...(failed.length > 0 ? tableOf(failed) : []),
  ].join('\n')

const folded = (heading: string, names: OutcomeNames): string[] => {
  if (names.size === 0) return []
  const count = [...names.values()].flat().length
  return [
    `<details><summary>${heading}: ${count}</summary>\n`,
    ...[...names].map(([operation, ofIt]) => `- ${code(operation)}: ${ofIt.join(', ')}`),
    '\n</details>\n',
  ]
}

const tableOf = (failed: readonly FailedRequest[]): string[] => [
  'The last requests that got a 4xx or a 5xx:\n',
  '| time | world | status | error | request | request id |',
  '| --- | --- | --- | --- | --- | --- |',
  ...failed.map((one) => {
    const cells = [one.at, one.world, one.status, errorOf(one), `${one.method} ${one.path}`, one.request_id]
    return `| ${cells.map((cell) => code(String(cell))).join(' | ')} |`
  }),
  '',
]

/** Shows a text unchanged: clients choose paths and request ids. */
const code = (text: string): string => `<code>${text.replace(/[&<>|`*_[\]\\~:@]/g, entityOf)}</code>`

const entityOf = (character: string): string => `&#${character.charCodeAt(0)};`
