import { appendFileSync, closeSync, openSync } from 'node:fs'
import type { RunConfig } from '../../../config/config.ts'
import { counted } from '../../../kernel/counted.ts'
import { EXIT, errorText, misused } from '../../../kernel/exit.ts'
import { visible } from '../../../kernel/visible.ts'
import type { CoverageReport } from '../../../sandbox/requests/contract.ts'
import type { LoggedRequest } from '../../../sandbox/requests/request-log.ts'
import { type ExploredRun, findingsOf } from './exploration-report.ts'

/** The summary of a run in Markdown, for people who read the page of a pipeline (contract C15). */

interface Summarized {
  words: readonly string[]
  exitCode: number
  requests: RequestTally
  report: CoverageReport
  /** Says that the coverage is too low; undefined if it is not. */
  shortfall?: string | undefined
  explored?: readonly ExploredRun[]
}

/** The requests of a run: how many there were, and the last that were refused. */
class RequestTally {
  count = 0
  refusedCount = 0
  readonly worlds = new Set<string>()
  refused: readonly LoggedRequest[] = []

  readonly add = (logged: LoggedRequest): void => {
    this.count += 1
    this.worlds.add(logged.world.name)
    if (logged.status < 400) return
    this.refusedCount += 1
    this.refused = [...this.refused, logged].slice(-REFUSED_MAX)
  }
}

export class Summary {
  readonly requests = new RequestTally()

  /** @throws ProgramError for a file that was asked for and cannot be written */
  constructor(private readonly config: RunConfig['evidence']['summary']) {
    if (config?.isGiven !== true) return
    try {
      closeSync(openSync(config.file, 'a'))
    } catch (error) {
      throw misused(`--summary: cannot write ${config.file}: ${reasonOf(error)}\nUse another file, or off.`)
    }
  }

  /** The run does not fail with the file of a pipeline, which nobody has asked for here. */
  write(run: Omit<Summarized, 'requests'>): void {
    if (!this.config) return
    try {
      appendFileSync(this.config.file, summaryOf({ ...run, requests: this.requests }))
    } catch (error) {
      process.stderr.write(errorText(`the summary is not written: ${reasonOf(error)}`))
    }
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Together with headings and totals, at most 60 lines. */
const REFUSED_MAX = 10
const MISSED_MAX = 20
const FOUND_MAX = 10
const NAMES_MAX = 8
const CHARACTERS_MAX = 160

const summaryOf = ({ words, exitCode, requests, report, shortfall, explored }: Summarized): string => {
  const ended = exitCode === EXIT.done ? 'passed' : `failed with exit code ${exitCode}`
  const { count, worlds, refusedCount } = requests
  return [
    `## Scrip: ${code(words.join(' '))} ${ended}`,
    '',
    `${counted(count, 'request')} in ${counted(worlds.size, 'world')}, ${refusedCount.toLocaleString('en')} refused.`,
    ...(refusedCount > 0 ? refusedIn(requests) : []),
    ...coverageIn(report, shortfall),
    ...(explored ? foundIn(explored) : []),
    '',
    '',
  ].join('\n')
}

const refusedIn = ({ refused, refusedCount }: RequestTally): string[] => [
  '',
  `### Refused requests${refusedCount > refused.length ? `: the last ${refused.length}` : ''}`,
  '',
  ...table(
    ['request', 'response', 'message'],
    refused.map(({ read, failureCode }) => {
      const { method, path, response, outcome, message, fault } = read()
      const error = [response.status, outcome ?? failureCode ?? '', fault === null ? '' : '(injected)'].join(' ').trim()
      return [code(`${method} ${path}`), plain(error), plain(message ?? '')]
    }),
  ),
]

/** Operations that were used come first: there, an outcome is missing that a test could have met. */
const coverageIn = ({ outcomes, documented, exercised, percent }: CoverageReport, shortfall?: string): string[] => {
  const byOperation = [...Map.groupBy(outcomes, ({ method, path }) => `${method} ${path}`)]
  const missed = byOperation
    .map(([operation, all]) => ({
      operation,
      isUsed: all.some(({ count }) => count > 0),
      names: all.filter(({ count }) => count === 0).map(({ name }) => name.replace(/^.*\./, '')),
    }))
    .filter(({ names }) => names.length > 0)
    .sort((a, b) => Number(b.isUsed) - Number(a.isUsed))
  const others = missed.length - MISSED_MAX
  return [
    '',
    `### Coverage: ${exercised} of ${documented} documented outcomes, ${percent} %`,
    ...(shortfall === undefined ? [] : ['', plain(shortfall)]),
    '',
    ...table(
      ['operation', 'not covered'],
      missed.slice(0, MISSED_MAX).map(({ operation, names }) => [code(operation), someOf(names)]),
    ),
    ...(others > 0 ? ['', `And ${counted(others, 'more operation')}.`] : []),
  ]
}

const someOf = (names: readonly string[]): string => {
  const others = names.length - NAMES_MAX
  return names.slice(0, NAMES_MAX).join(', ') + (others > 0 ? ` and ${others} more` : '')
}

const foundIn = (explored: readonly ExploredRun[]): string[] => {
  const rows = findingsOf(explored)
  const heading = `### Lost responses: ${counted(explored.length, 'run')}`
  if (rows.length === 0) return ['', heading, '', 'Nothing was done twice, and nothing is missing.']
  const columns = ['result', 'request', 'fault', 'of', 'without the fault', 'with it'] as const
  const others = rows.length - FOUND_MAX
  return [
    '',
    heading,
    '',
    ...table(
      columns,
      rows.slice(0, FOUND_MAX).map((row) => columns.map((column) => plain(String(row[column])))),
    ),
    ...(others > 0 ? ['', `And ${others} more.`] : []),
  ]
}

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)

const shortened = (text: string): string => {
  const line = visible(text)
  return line.length > CHARACTERS_MAX ? `${line.slice(0, CHARACTERS_MAX)}…` : line
}

/** Text of others, in which nothing is Markdown or HTML. */
const plain = (text: string): string => shortened(text).replace(/[\\`*_[\]<>|&#!~]/g, '\\$&')

/** Text of others as code. In a table, a bar is escaped also there. */
const code = (text: string): string => `\`${shortened(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``
