import type { Command } from 'commander'
import { type Administration, administrationOf } from '../../acts/administration.ts'
import { type DataConfig, dataConfigOf } from '../../config/config.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { Database } from '../../db/database.ts'
import { requireCurrentSchema } from '../../db/migrate.ts'
import { databasePath, hasDatabase, requirePrivateFiles } from '../../folder/files.ts'
import { lockForReading } from '../../folder/lock.ts'
import { isOfMode } from '../../folder/mode.ts'
import { systemClock } from '../../kernel/clock.ts'
import { type ProgramError, unusable } from '../../kernel/exit.ts'
import { secureRandomness } from '../../kernel/ids.ts'
import { readReference } from '../../start/seed.ts'
import { World } from '../../work/world.ts'
import { DEFAULT_WORLD } from '../../work/worlds.ts'
import { explainFaults } from '../advice.ts'
import { type Result, show } from '../terminal/output.ts'

/**
 * The action of a command that reads its data folder and shows the result. Its errors are those of the program.
 * @param inSandbox the operation that does the same in a sandbox
 */
export const administer = <Args extends unknown[]>(
  work: (administration: Reading, ...args: Args) => Result | Promise<Result>,
  inSandbox?: string,
) =>
  async function (this: Command, ...args: Args): Promise<void> {
    const config = dataConfigOf(this.opts<DataOptions>())
    await explainFaults(config.dataDir, () =>
      reading(config, async (data) => {
        requireLive(config.dataDir, pathOf(this), inSandbox)
        await show(await work(data, ...args), config.format)
      }),
    )
  }

/** Does some work with the data of a folder. @throws ProgramError */
export const reading = <T>(config: DataConfig, work: (data: Reading) => Promise<T>): Promise<T> =>
  withReader(config, (database) => {
    const world = new World(DEFAULT_WORLD, database, systemClock, secureRandomness)
    return work({ ...administrationOf(world, readReference()), config, database })
  })

export interface Reading extends Administration {
  config: DataConfig
  database: Database
}

/** Reads the database of a folder, beside a server or not. @throws ProgramError */
export const withReader = async <T>(config: DataConfig, work: (database: Database) => T | Promise<T>): Promise<T> => {
  const { dataDir, postgres } = config
  const read = async (): Promise<T> => {
    if (!hasDatabase(dataDir)) throw holdsNoDatabase(dataDir)
    requirePrivateData(dataDir)
    using _lock = lockForReading(dataDir)
    const database = Database.openToRead(databasePath(dataDir))
    try {
      requireCurrentSchema(database.sqlite)
      return await work(database)
    } finally {
      database.leave()
    }
  }
  if (!postgres) return await read()
  const { withCopy } = await import('./replication.ts')
  return await withCopy(config, postgres, 'read', read)
}

export const holdsNoDatabase = (dataDir: string): ProgramError =>
  unusable(
    `${dataDir} contains no database\nCheck the name, or create one: scrip client add NAME --data-dir ${dataDir}.`,
  )

/** The words of a command, without the program: `client add`. */
export const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()

/** Acts and lists need live mode (contract C20). @throws ProgramError */
export const requireLive = (dataDir: string, command: string, inSandbox?: string): void => {
  if (!isOfMode(databasePath(dataDir), 'sandbox')) return
  const next = inSandbox
    ? `While it is served, ${inSandbox.replace(' ', ' /_sandbox')} does the same.`
    : 'Live data needs another folder: scrip client add creates one.'
  throw unusable(`${dataDir} is the folder of a sandbox, and scrip ${command} works in live mode only\n${next}`)
}

/** Called before anything in a folder changes. @throws ProgramError */
export const requireLiveFolder = (dataDir: string, command: string, inSandbox?: string): void => {
  if (hasDatabase(dataDir)) requireLive(dataDir, command, inSandbox)
  requirePrivateFiles(dataDir)
}

/** Checks permissions in live mode. A sandbox has no secrets. @throws DataFault */
export const requirePrivateData = (dataDir: string): void => {
  if (hasDatabase(dataDir) && isOfMode(databasePath(dataDir), 'live')) requirePrivateFiles(dataDir)
}
