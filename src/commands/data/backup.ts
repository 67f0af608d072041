import { existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import type { ActRequest } from '../../acts/act.ts'
import type { Row } from '../../acts/cells.ts'
import { act } from '../../acts/kind.ts'
import { type DataConfig, dataConfigOf } from '../../config/config.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { withDataOptions } from '../../config/options.ts'
import { parseCount } from '../../config/values.ts'
import { copyDatabase, ownDatabase } from '../../db/beside.ts'
import { findPosition } from '../../db/copy-position.ts'
import { createStagingFolder, flushFile, flushFolder } from '../../folder/disk.ts'
import { databasePath } from '../../folder/files.ts'
import { lockForCopying } from '../../folder/lock.ts'
import { isOfMode } from '../../folder/mode.ts'
import { statOf } from '../../folder/permissions.ts'
import { systemClock, toTimestamp } from '../../kernel/clock.ts'
import { type ProgramError, refused, unusable } from '../../kernel/exit.ts'
import { worldFilesIn } from '../../sandbox/worlds/database-folder.ts'
import { actRequestOf, ask, doneBy, ROW_MS_MAX, recordingRefusal } from '../acts/ask.ts'
import { explainFaults, reasonOf } from '../advice.ts'
import { withReader } from '../records/administration.ts'
import { note, show } from '../terminal/output.ts'
import { type OnProgress, withProgress } from '../terminal/progress.ts'
import { brokenIn, verified } from './verify.ts'

interface BackupOptions {
  keep?: number
}

/** The copies in a folder are named after their times. */
const NAME = /^scrip-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.sqlite$/
/** The ending of a copy that failed its checks. */
const UNSOUND_SUFFIX = '.unsound'

/** `scrip backup`: a verified copy of the database, taken while the server runs (decision 29). */
export const backupCommand = (backup: Command): void => {
  withDataOptions(backup)
    .description('write a verified copy of the database, even while a server is running; the keys are not included')
    .argument('<place>', 'a file that does not exist yet, or a folder, where the file is named after the time')
    .option('--keep <number>', 'remove the oldest copies in the folder beyond this number', parseCount)
    .action(backUp)
}

const isFolder = (place: string): boolean => statOf(place)?.isDirectory() ?? false

/**
 * The folder is not created here: if a disk is not mounted, the backups would fill the disk of the machine.
 *
 * @throws ProgramError
 */
const requireFolder = (place: string): void => {
  if (!isFolder(place)) throw unusable(`${place} is not a folder\nMake it, or mount its disk, first.`)
}

async function backUp(this: Command, place: string, { keep }: BackupOptions): Promise<void> {
  const config = dataConfigOf(this.opts<DataOptions>())
  const request = actRequestOf(this)
  const call = { config, request }
  await explainFaults(config.dataDir, async () => {
    const copied = await recordingRefusal(call, () =>
      withReader(config, async ({ sqlite }) => {
        if (keep !== undefined) requireFolder(place)
        const folder = isFolder(place) ? place : undefined
        const file =
          folder === undefined
            ? place
            : join(folder, `scrip-${toTimestamp(systemClock.nowMs()).replaceAll(':', '-')}.sqlite`)
        return await explainFaults(file, async () => {
          requireFolder(dirname(file))
          if (existsSync(file)) throw exists(file)
          const isCopy = findPosition(sqlite) !== undefined
          await copyVerified(config, isCopy, file, folder)
          const rotated = folder === undefined || keep === undefined ? {} : rotate(folder, keep)
          return { isCopy, row: { file, bytes: statSync(file).size, ...rotated } }
        })
      }),
    )
    await recordCopied(call, copied)
    await show(copied.row, config.format, doneBy(request, copied.row))
    sayWhatIsNotInIt(config)
  })
}

/** A sandbox has no audit. Without an active server on this machine, a copy takes no row. The copy is good without it, too. */
const recordCopied = async (
  { config, request }: { config: DataConfig; request: ActRequest },
  { isCopy, row }: { isCopy: boolean; row: Row },
): Promise<void> => {
  const { dataDir } = config
  if (isOfMode(databasePath(dataDir), 'sandbox')) return
  try {
    await ask({ config, act: backupAct, request: { ...request, input: row }, waitMsMax: ROW_MS_MAX })
  } catch (error) {
    if (!isCopy) note(`The copy is good, but has no row in the audit: ${reasonOf(error)}.`, 'text')
  }
}

/** The command makes the copy, and the server only records it. */
export const backupAct = act('Back up', 'Record a copy', {}, ({ write, record }, row: Row) =>
  write((tx) => {
    record(tx, { after: row })
    return row
  }),
)

const sayWhatIsNotInIt = ({ dataDir, format }: DataConfig): void => {
  note(
    `The copy was verified. The keys are not in it: keep voucher.key of ${dataDir}, or the key of SCRIP_VOUCHER_KEY, in another place. Without it, no code in the backup can be decrypted.`,
    format,
  )
  const others = worldFilesIn(dataDir).length
  if (others === 0) return
  note(
    `It contains only the default world. The ${others} named worlds and snapshots of ${dataDir} are not in it.`,
    format,
  )
}

const exists = (file: string): ProgramError =>
  refused(`${file} already exists, and a backup overwrites nothing\nUse another file, or a folder.`)

/** A verified copy gets its name; a damaged one gets another name. @throws ProgramError */
const copyVerified = async (
  config: DataConfig,
  isCopy: boolean,
  file: string,
  folder: string | undefined,
): Promise<void> => {
  using staging = createStagingFolder(dirname(file))
  const staged = join(staging.path, 'scrip.sqlite')
  const broken = await withProgress(async (onProgress) => {
    await copyData(config, isCopy, staged, onProgress)
    return brokenIn(await verified(staged, config, onProgress))
  })
  if (broken !== undefined && folder !== undefined) removeUnsound(folder)
  const name = broken === undefined ? file : file + UNSOUND_SUFFIX
  rename(staged, name)
  flushFolder(dirname(name))
  if (broken === undefined) return
  throw refused(
    `the data is not sound: ${broken}\nThe copy is ${name}, and earlier backups are as they were. See scrip verify.`,
  )
}

const copyData = async (
  { dataDir }: DataConfig,
  isCopy: boolean,
  staged: string,
  onProgress: OnProgress,
): Promise<void> => {
  using _lock = await lockForCopying(dataDir)
  const source = databasePath(dataDir)
  const bytes = statSync(source).size
  const onFlushed = (copied: number) => onProgress('copying the database', copied, bytes)
  await copyDatabase(source, staged, onFlushed)
  onProgress('waiting for the disk', 0, 0)
  if (isCopy) ownDatabase(staged)
  flushFile(staged)
}

/** On a file system with links, it never replaces the file of another backup. */
const rename = (staged: string, file: string): void => {
  try {
    linkSync(staged, file)
  } catch {
    if (existsSync(file)) throw exists(file)
    renameSync(staged, file)
  }
}

/** Removes the oldest backups beyond a number. */
const rotate = (folder: string, keep: number): { kept: number; removed: number } => {
  const backups = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
  const removed = backups.slice(0, -keep)
  for (const name of removed) rmSync(join(folder, name))
  flushFolder(folder)
  return { kept: backups.length - removed.length, removed: removed.length }
}

/** Only the last one is kept: one for each try would fill the disk. */
const removeUnsound = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const isUnsound = name.endsWith(UNSOUND_SUFFIX) && NAME.test(name.slice(0, -UNSOUND_SUFFIX.length))
    if (isUnsound) rmSync(join(folder, name))
  }
}
