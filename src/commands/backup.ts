import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { type DataOptions, dataConfigOf, withDataOptions } from '../config.ts'
import { databasePath, makePrivateFile } from '../db/data-folder.ts'
import { administer, refused, told } from './administration.ts'
import { note } from './output.ts'
import { withProgress } from './progress.ts'

/** `scrip backup`: one consistent copy of the database, taken while the server goes on. */
export const backupCommand = (backup: Command): void => {
  withDataOptions(backup)
    .description('write the database to a file, consistent while a server runs; the keys are not in it')
    .argument('<file>', 'a file that does not exist yet')
    .action((file: string, options: DataOptions) => {
      const { dataDir } = dataConfigOf(options)
      return administer(options, ({ config, database }) =>
        told(file, async () => {
          if (existsSync(file)) throw refused(`${file} exists already: a backup overwrites nothing.`)
          const draft = `${file}.${process.pid}`
          try {
            makePrivateFile(draft)
            await withProgress(statSync(databasePath(dataDir)).size, (onProgress) => {
              onProgress('copying the database', 0, 0)
              database.sqlite.query('VACUUM INTO ?').run(draft)
              onProgress('waiting for the disk', 0, 0)
              flush(draft)
            })
            renameSync(draft, file)
          } finally {
            rmSync(draft, { force: true })
          }
          note(
            `The keys are not in it: keep voucher.key of ${dataDir}, or the one of SCRIP_VOUCHER_KEY, in another place. Without it no code in the backup can be opened.`,
            config.json,
          )
          return { file, bytes: statSync(file).size }
        }),
      )
    })
}

/** Waits until the file is on the disk. */
export const flush = (file: string): void => {
  const descriptor = openSync(file, 'r+')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
