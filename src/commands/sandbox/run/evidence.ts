import { appendFileSync } from 'node:fs'
import type { RunConfig } from '../../../config/config.ts'
import { PRIVATE_FILE_MODE } from '../../../db/data-folder.ts'
import type { Log } from '../../../observability/log.ts'
import { recordedFrom } from '../../../sandbox/requests/request-log.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import type { RunningServer } from '../../serve/server.ts'
import { comparisonText, coverageText, hasComparison } from './coverage.ts'
import { FailedRequests } from './failed-requests.ts'
import { toJUnit } from './junit.ts'
import { StagedFile } from './staged-file.ts'
import { toMarkdown } from './summary.ts'
import { capsule, type Ended, journalHar, journalLines, reporting, type Writer, type WriterOf } from './writers.ts'

/** The destination of `--coverage -`. */
const STANDARD_ERROR = '-'

interface EvidenceFile {
  name: string
  staged: StagedFile
  writerOf: WriterOf
  /** Whether it is written about a run that succeeded, too. */
  isAlways: boolean
}

/** The files that `scrip run` writes about a run (contract C15). Each is opened before the command starts. */
export class Evidence implements Disposable {
  readonly #files: EvidenceFile[] = []
  #writers: readonly Writer[] = []
  readonly #failed = new FailedRequests()

  /** @throws UsageError for a file that cannot be written */
  constructor(private readonly config: RunConfig) {
    const { on, coverageFile, journalFile, junitFile, capsuleFile, summaryFile } = config.evidence
    const isAlways = on === 'always'
    const open = (flag: string, file: string | undefined, writerOf: WriterOf, always = isAlways, mode?: number) => {
      if (file === undefined || file === STANDARD_ERROR) return
      this.#files.push({ name: file, staged: new StagedFile(flag, file, mode), writerOf, isAlways: always })
    }
    // Only the user may read what clients have sent.
    const openPrivate = (flag: string, file: string | undefined, writerOf: WriterOf) =>
      open(flag, file, writerOf, isAlways, PRIVATE_FILE_MODE)
    try {
      open(
        '--coverage',
        coverageFile,
        reporting((ended) => coverageText(coverageFile, ended)),
        true,
      )
      openPrivate('--journal', journalFile, journalFile?.endsWith('.har') ? journalHar : journalLines)
      open(
        '--junit',
        junitFile,
        reporting(({ report }) => toJUnit(report)),
      )
      openPrivate('--capsule', capsuleFile, capsule(config))
      open('--summary', summaryFile, reporting(toMarkdown))
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  /** The last requests that got a 4xx or a 5xx. */
  get failed() {
    return this.#failed.last
  }

  /** Records requests from now on. */
  begin(server: RunningServer, sandbox: Sandbox, log: Log): void {
    this.#writers = this.#files.map(({ staged, writerOf }) => writerOf((text) => staged.write(text), server, log))
    const recording = this.#writers.flatMap(({ request }) => request ?? [])
    sandbox.onRecorded((logged) => {
      this.#failed.add(logged)
      if (recording.length === 0) return
      const recorded = recordedFrom(logged)
      for (const record of recording) record(recorded)
    })
  }

  /** Writes the files while the worlds are open. Returns whether all of them are written. */
  async end(ended: Ended, log: Log): Promise<boolean> {
    const hasFailed = ended.exitCode !== 0 || ended.shortfall !== undefined
    let isWhole = true
    for (const [index, { name, staged, isAlways }] of this.#files.entries()) {
      if (!isAlways && !hasFailed) continue
      try {
        await this.#writers[index]?.end(ended)
        staged.keep()
      } catch (error) {
        log.error('not written', { file: name, cause: String(error) })
        isWhole = false
      }
    }
    const { coverageFile, jobSummaryFile, on } = this.config.evidence
    if (coverageFile === STANDARD_ERROR) await Bun.write(Bun.stderr, coverageText(coverageFile, ended))
    if (ended.comparison && !hasComparison(coverageFile)) await Bun.write(Bun.stderr, comparisonText(ended.comparison))
    if (jobSummaryFile !== undefined && (on === 'always' || hasFailed))
      appendJobSummary(jobSummaryFile, toMarkdown(ended), log)
    return isWhole
  }

  [Symbol.dispose](): void {
    for (const { staged } of this.#files) staged[Symbol.dispose]()
  }
}

/** Nobody asked for this file, so a run does not fail without it. */
export const appendJobSummary = (file: string, markdown: string, log: Log): void => {
  try {
    appendFileSync(file, markdown)
  } catch (error) {
    log.warn('no job summary', { file, cause: String(error) })
  }
}
