import type { Config, DataConfig } from '../../config/config.ts'
import type { PostgresTarget } from '../../config/postgres-url.ts'
import { Database } from '../../db/database.ts'
import { databasePath, requirePrivateFiles } from '../../folder/files.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Log } from '../../observability/log.ts'
import { openCipher } from '../../orders/voucher-key.ts'
import { type CopyAccess, joinInstallation, type Needs } from '../../replication/command.ts'
import { compareCopy } from '../../replication/compare.ts'
import { COMMAND_PATIENCE_MS, Connection } from '../../replication/connection.ts'
import { ReplicatedServer } from '../../replication/server.ts'
import { createDatabase } from '../../start/folder.ts'
import { VERSION } from '../../start/version.ts'
import { explainFaults } from '../advice.ts'

/** Replication as serve and commands use it (contract C18). */

/** @throws ProgramError when it cannot be used */
export const openReplication = (config: Config, target: PostgresTarget, log: Log): Promise<ReplicatedServer> =>
  explainFaults(config.dataDir ?? '', () => {
    const { dataDir = '', signingKey = new Uint8Array() } = config
    requirePrivateFiles(dataDir)
    return ReplicatedServer.open({ target, dataDir, signingKey, release: VERSION, log })
  })

/** Does some work on a folder that is a copy. @throws ProgramError */
export const withCopy = <T>(
  { dataDir, signingKey, voucherKey }: DataConfig,
  target: PostgresTarget,
  needs: Needs,
  work: (joined: CopyAccess) => Promise<T>,
): Promise<T> =>
  explainFaults(dataDir, async () => {
    const create = () => {
      createDatabase(dataDir, 'live', systemClock)
      if (!voucherKey) return
      const database = Database.openFile(databasePath(dataDir))
      openCipher(database, dataDir, voucherKey)
      database.leave()
    }
    const joined = await joinInstallation({ target, dataDir, signingKey, release: VERSION, needs, create })
    try {
      if (joined.lagSeconds !== undefined)
        process.stderr.write(`This copy is ${joined.lagSeconds.toFixed(1)} s behind the record.\n`)
      return await work(joined)
    } finally {
      await joined.leave()
    }
  })

/** Verifies a folder, and compares it with PostgreSQL. @throws ProgramError */
export const verifiedCopy = <Result>(
  config: DataConfig,
  target: PostgresTarget,
  verify: () => Promise<Result[]>,
  resultOf: (check: string, faults: readonly string[]) => Result,
): Promise<Result[]> =>
  withCopy(config, target, 'read', async () => {
    const connection = new Connection(target, 'verify', COMMAND_PATIENCE_MS)
    try {
      const results = await verify()
      const compared = await compareCopy(connection, databasePath(config.dataDir))
      const faults = compared.flatMap(({ table, first }) => (first === undefined ? [] : [`${table} ${first}`]))
      return [...results, resultOf('the copy matches the record', faults)]
    } finally {
      connection.close()
    }
  })
