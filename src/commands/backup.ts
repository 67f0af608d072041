import { existsSync, linkSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { finishCatalogImport } from '../catalog/import.ts'
import { withDataOptions } from '../config/options.ts'
import { databasePath, makePrivateFile } from '../db/data-folder.ts'
import type { Database } from '../db/database.ts'
import { createStagingFolder, flushFile, flushFolder } from '../db/disk.ts'
import { lockForImport } from '../db/folder-lock.ts'
import { MINUTE_MS } from '../kernel/clock.ts'
import { worldFilesIn } from '../sandbox/worlds/folder-store.ts'
import { act } from './acts.ts'
import { explainFaults, refused } from './administration.ts'
import { note } from './output.ts'
import { type OnProgress, withProgress } from './progress.ts'

/** `scrip backup`: one consistent copy of the database, taken while the server goes on. */
export const backupCommand = (backup: Command): void => {
  withDataOptions(backup)
    .description(
      'write a consistent copy of the database to a file, also while a server runs; the keys are not included',
    )
    .argument('<file>', 'a file that does not exist yet')
    .action(
      act(({ config: { dataDir, format }, database, reference, write, record }, file: string) =>
        explainFaults(file, async () => {
          if (existsSync(file)) throw exists(file)
          // Half a catalog is in no backup.
          using _lock = lockForImport(dataDir, MINUTE_MS)
          finishCatalogImport(dataDir, database, reference)
          await withProgress(statSync(databasePath(dataDir)).size, (onProgress) => copy(database, file, onProgress))
          note(
            `The keys are not in it: keep voucher.key of ${dataDir}, or the key of SCRIP_VOUCHER_KEY, in another place. Without it no code in the backup can be opened.`,
            format,
          )
          const others = worldFilesIn(dataDir).length
          if (others > 0) {
            note(
              `It has the default world only. ${others} named worlds and snapshots of ${dataDir} are not in it.`,
              format,
            )
          }
          const copied = { file, bytes: statSync(file).size }
          await write((tx) => record(tx, { after: copied }))
          return copied
        }),
      ),
    )
}

const exists = (file: string) => refused(`${file} exists already: a backup overwrites nothing.`)

const copy = ({ sqlite }: Database, file: string, onProgress: OnProgress): void => {
  using staging = createStagingFolder(dirname(file))
  const staged = join(staging.path, 'scrip.sqlite')
  makePrivateFile(staged)
  onProgress('copying the database', 0, 0)
  sqlite.query('VACUUM INTO ?').run(staged)
  onProgress('waiting for the disk', 0, 0)
  flushFile(staged)
  rename(staged, file)
  flushFolder(dirname(file))
}

/** A link, where the file system has them, never replaces what another backup has just written. */
const rename = (staged: string, file: string): void => {
  try {
    linkSync(staged, file)
  } catch {
    if (existsSync(file)) throw exists(file)
    renameSync(staged, file)
  }
}
