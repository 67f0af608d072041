import type { RunConfig } from '../../../config/config.ts'
import { PRIVATE_FILE_MODE } from '../../../folder/files.ts'
import { visible } from '../../../kernel/visible.ts'
import type { Log } from '../../../observability/log.ts'
import type { CoverageReport, RecordedRequest } from '../../../sandbox/requests/contract.ts'
import { HAR_TAIL, harEntry, harHead } from '../../../sandbox/requests/formats.ts'
import { toTable } from '../../../sandbox/requests/outcomes.ts'
import type { LoggedRequest } from '../../../sandbox/requests/request-log.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import { VERSION } from '../../../start/version.ts'
import { StagedFile } from './staged-file.ts'

/** The destination of `--coverage -`. */
const STANDARD_ERROR = '-'

export interface Ended {
  exitCode: number
  report: CoverageReport
  /** Says that the coverage is too low; undefined if it is not. */
  shortfall: string | undefined
}

/** The files that `scrip run` writes about a run (contract C15). Each is opened before the command starts. */
export class Evidence implements Disposable {
  readonly #journal: StagedFile | undefined
  readonly #coverage: StagedFile | undefined
  readonly #failed = new FailedRequests()

  /** @throws ProgramError for a file that cannot be written */
  constructor(private readonly config: RunConfig['evidence']) {
    const { coverageFile, journalFile } = config
    try {
      if (coverageFile !== undefined && coverageFile !== STANDARD_ERROR)
        this.#coverage = new StagedFile('--coverage', coverageFile)
      // Only the user may read the requests of clients.
      if (journalFile !== undefined) this.#journal = new StagedFile('--journal', journalFile, PRIVATE_FILE_MODE)
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  /** Lines about the requests that failed, for a command that failed. */
  get failedRequests(): string {
    return this.#failed.text
  }

  /** Records requests from now on. */
  begin(url: string, sandbox: Sandbox): void {
    const journal = this.#journal
    const toText = this.#isHar ? harEntries(url) : toLine
    if (this.#isHar) journal?.write(harHead(VERSION))
    sandbox.onRecorded((logged) => {
      this.#failed.add(logged)
      journal?.write(toText(logged.read()))
    })
  }

  get #isHar(): boolean {
    return this.config.journalFile?.endsWith('.har') === true
  }

  /** Writes the requested files. Returns whether all of them are written. */
  async end({ exitCode, shortfall, report }: Ended, log: Log): Promise<boolean> {
    const { on, coverageFile, journalFile } = this.config
    if (on === 'failure' && exitCode === 0 && shortfall === undefined) return true
    if (coverageFile === STANDARD_ERROR) await Bun.write(Bun.stderr, coverageText(coverageFile, report))
    if (coverageFile !== undefined) this.#coverage?.write(coverageText(coverageFile, report))
    if (this.#isHar) this.#journal?.write(`\n${HAR_TAIL}\n`)
    const kept = [isKept(this.#coverage, coverageFile, log), isKept(this.#journal, journalFile, log)]
    return kept.every(Boolean)
  }

  [Symbol.dispose](): void {
    this.#coverage?.[Symbol.dispose]()
    this.#journal?.[Symbol.dispose]()
  }
}

/** JSON for a name that ends in `.json`, otherwise a table. */
const coverageText = (file: string, report: CoverageReport): string =>
  file.endsWith('.json') ? `${JSON.stringify(report, null, 2)}\n` : toTable(report)

const toLine = (request: RecordedRequest): string => `${JSON.stringify(request)}\n`

const harEntries = (url: string) => {
  let separator = '\n'
  return (request: RecordedRequest): string => {
    const entry = separator + harEntry(request, url)
    separator = ',\n'
    return entry
  }
}

/** Returns true if the file was kept, or there is none. */
const isKept = (staged: StagedFile | undefined, file: string | undefined, log: Log): boolean => {
  try {
    staged?.keep()
    return true
  } catch (error) {
    log.error('not written', { file, cause: String(error) })
    return false
  }
}

const KEPT_MAX = 10
const CHARACTERS_MAX = 80
const ADVICE = 'scrip docs errors: what to do about each error\n'

/** The last requests of all worlds whose responses were a 4xx or a 5xx. */
class FailedRequests {
  #last: LoggedRequest[] = []
  #count = 0

  add(logged: LoggedRequest): void {
    if (logged.status < 400) return
    this.#count += 1
    this.#last = [...this.#last, logged].slice(-KEPT_MAX)
  }

  /** A line for each request, the total if some are left out, and a link to advice. */
  get text(): string {
    if (this.#count === 0) return ''
    const lines = this.#last.map(lineOf)
    const isAll = this.#count === lines.length
    return (isAll ? '' : `the last ${lines.length} of ${this.#count} requests that failed:\n`) + lines.join('') + ADVICE
  }
}

/** An error that no operation documents has its code in place of a name. */
const lineOf = (logged: LoggedRequest): string => {
  const { at, world, method, path, fault, request_id, response, outcome, message } = logged.read()
  const error = outcome ?? logged.failureCode ?? fault ?? 'unknown'
  const named = `${response.status} ${error}${fault === null ? '' : ' (injected)'}`
  const reason = message === null ? '' : `: ${shortened(message)}`
  return `${at} ${world} ${named}: ${method} ${shortened(path)} ${visible(request_id)}${reason}\n`
}

const shortened = (text: string): string => {
  const shown = visible(text)
  return shown.length > CHARACTERS_MAX ? `${shown.slice(0, CHARACTERS_MAX)}…` : shown
}
