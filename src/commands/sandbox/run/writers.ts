import { readFileSync } from 'node:fs'
import type { RunConfig } from '../../../config/config.ts'
import type { Log } from '../../../observability/log.ts'
import { CapsuleWriter } from '../../../sandbox/capsule.ts'
import type { CoverageReport } from '../../../sandbox/requests/coverage.ts'
import { HAR_TAIL, harEntry, harHead } from '../../../sandbox/requests/formats.ts'
import type { RecordedRequest } from '../../../sandbox/requests/operations.ts'
import type { Snapshots } from '../../../sandbox/worlds/snapshots.ts'
import { VERSION } from '../../../start/version.ts'
import type { RunningServer } from '../../serve/server.ts'
import type { Comparison } from './coverage.ts'
import type { FailedRequest } from './failed-requests.ts'

/** How a run ended. */
export interface Ended {
  exitCode: number
  report: CoverageReport
  /** Why the coverage is not enough. */
  shortfall: string | undefined
  comparison: Comparison | undefined
  failed: readonly FailedRequest[]
}

/** Writes one file about a run. */
export interface Writer {
  /** Before the command. */
  request?: (request: RecordedRequest) => void
  /** After the command, while the worlds are open. */
  end: (ended: Ended) => void | Promise<void>
}

/** Makes a writer when the server runs. */
export type WriterOf = (write: (text: string) => void, server: RunningServer, log: Log) => Writer

/** A file that is written at the end. */
export const reporting =
  (textOf: (ended: Ended) => string): WriterOf =>
  (write) => ({ end: (ended) => write(textOf(ended)) })

export const journalLines: WriterOf = (write) => ({
  request: (request) => write(`${JSON.stringify(request)}\n`),
  end: () => undefined,
})

export const journalHar: WriterOf = (write, { url }) => {
  write(harHead(VERSION))
  let separator = '\n'
  return {
    request: (request) => {
      write(separator + harEntry(request, url))
      separator = ',\n'
    },
    end: () => write(`\n${HAR_TAIL}\n`),
  }
}

export const capsule =
  ({ catalogFile, ratesFile }: RunConfig): WriterOf =>
  (write, { worlds, seed, sandbox }, log) => {
    const writer = new CapsuleWriter(write, {
      version: VERSION,
      seed,
      ...(catalogFile !== undefined && { catalog: packed(catalogFile) }),
      ...(ratesFile !== undefined && { rates: readFileSync(ratesFile, 'utf8') }),
    })
    return {
      request: (request) => writer.request(request),
      end: async () => {
        for (const name of worlds.names) {
          const world = worlds.find(name)
          if (world && sandbox) await writer.world(world, seed, sandbox.met(world))
        }
        if (!sandbox) return
        await writeSnapshots(writer, sandbox.snapshots, log)
        writer.end(sandbox.met())
      },
    }
  }

/** A file that cannot be written is reported, and the others are still written. */
const writeSnapshots = async (writer: CapsuleWriter, snapshots: Snapshots, log: Log): Promise<void> => {
  for (const name of snapshots.names) {
    try {
      const state = snapshots.find(name)
      if (!state || (await writer.snapshot(name, state))) continue
      log.warn('a snapshot has no room in the capsule', { snapshot: name })
    } catch (error) {
      log.warn('a snapshot is not in the capsule', { snapshot: name, cause: String(error) })
    }
  }
}

const packed = (file: string): string => Bun.zstdCompressSync(readFileSync(file)).toString('base64')
