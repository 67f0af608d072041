import { afterAll, beforeAll } from 'bun:test'
import { join } from 'node:path'
import { Postgres } from '../postgres.ts'
import { temporaryFolder } from '../program.ts'

/** The options that all servers of one PostgreSQL database share. */
export const KEYS = { SCRIP_VOUCHER_KEY: '11'.repeat(32), SCRIP_SIGNING_KEY: '22'.repeat(32) }
export const LIVE = ['--mode', 'live', '--rate-limit', 'off']

/** `scrip serve` of a folder, on a free port. */
export const serving = (dataDir: string): string[] => ['serve', ...LIVE, '--port', '0', '--data-dir', dataDir]

/** A PostgreSQL for the tests of a `describe`, new databases in it, and new folders beside it. */
export const withPostgres = () => {
  const folder = temporaryFolder()
  let postgres: Postgres | undefined
  let number = 0
  beforeAll(async () => {
    postgres = await Postgres.start()
  })
  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
  const started = (): Postgres => {
    if (!postgres) throw new Error('PostgreSQL has not started')
    return postgres
  }
  return {
    postgres: started,
    newFolder: (): string => join(folder.path, `folder${++number}`),
    /** The environment of a server of a new installation. */
    newInstallation: async () => ({ ...KEYS, SCRIP_POSTGRES: await started().create(`record${++number}`) }),
  }
}
