import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine } from '../src/commands/command-line.ts'
import { manualOf } from '../src/commands/help/manual.ts'
import type { ArchivedFile } from './archives.ts'
import { ROOT } from './compile.ts'

const FILES = [
  'alerts.yml',
  'compose.yaml',
  'dashboard.json',
  'restore-drill.sh',
  'running-live.md',
  'scrip-backup.service',
  'scrip.service',
]

/** Files that a pipeline or a test copies. */
const PIPELINE_FILES = ['ScripContainer.java', 'action.yml', 'scrip-container.mjs', 'scrip.gitlab-ci.yml']

/** The files that operators install beside the executable and `scrip docs` prints, and those that pipelines copy. */
export const operatorFiles = async (): Promise<ArchivedFile[]> => [
  ...PIPELINE_FILES.map((name) => ({ path: `ci/${name}`, bytes: readFileSync(join(ROOT, 'release/ci', name)) })),
  ...FILES.map((name) => ({ path: `live/${name}`, bytes: readFileSync(join(ROOT, 'docs/operate', name)) })),
  { path: 'live/scrip.1', bytes: Buffer.from(manualOf(await commandLine({}))) },
]
