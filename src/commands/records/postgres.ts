import type { Command } from 'commander'
import type { Acting } from '../../acts/act.ts'
import type { Row } from '../../acts/cells.ts'
import { act } from '../../acts/kind.ts'
import { fileConfigOf } from '../../config/config.ts'
import { refuseRuntimeVariables } from '../../config/environment.ts'
import type { DataOptions } from '../../config/option-table.ts'
import { withJson } from '../../config/options.ts'
import type { PostgresTarget } from '../../config/postgres-url.ts'
import { SCHEMA_VERSION } from '../../db/migrate.ts'
import { misused, refused } from '../../kernel/exit.ts'
import { freshInstallationId } from '../../kernel/ids.ts'
import { openCipher } from '../../orders/voucher-key.ts'
import { COMMAND_PATIENCE_MS, Connection } from '../../replication/connection.ts'
import { checkServer, followersOf, installationOf, makeInstallation } from '../../replication/installation.ts'
import { VERSION } from '../../start/version.ts'
import { explainFaults } from '../advice.ts'
import { jsonOf, print, show } from '../terminal/output.ts'
import { actCommand } from './records.ts'

const STATUS_COLUMNS = ['follower', 'url', 'seq', 'lag_commits', 'seen_seconds_ago'] as const

/** `scrip postgres` (contract C18). */
export const postgresCommands = (postgres: Command): void => {
  actCommand(postgres.command('init'), INIT)
  withJson(postgres.command('status'))
    .description('show the record, the active server, and how far the others are behind')
    .hook('preAction', refuseRuntimeVariables)
    .action(showStatus)
}

/** Its audit row is in the folder, and therefore in PostgreSQL. */
const initialize = ({ config, database, isCopy, record, note }: Acting): Promise<Row> => {
  const { dataDir, voucherKey, signingKey } = config
  const target = requireTarget(config.postgres)
  if (!voucherKey || !signingKey) throw misused(KEYS_MISSING)
  return explainFaults(dataDir, async () => {
    const connection = new Connection(target, 'init', COMMAND_PATIENCE_MS)
    try {
      if ((await checkServer(connection.ask)) || isCopy) throw refused(HOLDS_DATA)
      openCipher(database, dataDir, voucherKey)
      const id = freshInstallationId()
      const before = () => database.fill((tx) => record(tx, { after: { installation: id } }))
      await makeInstallation(connection, database, { id, release: VERSION, signingKey, before })
      note('Next: scrip serve --mode live with the same SCRIP_POSTGRES, here and on other machines.')
      return { installation: id, data_dir: dataDir, schema: SCHEMA_VERSION }
    } finally {
      connection.close()
    }
  })
}

const HOLDS_DATA = 'the record already contains data\nUse an empty database, or serve an empty folder, which is pulled.'
const KEYS_MISSING =
  'the keys that all servers share are missing\nSet SCRIP_VOUCHER_KEY_FILE and SCRIP_SIGNING_KEY_FILE: voucher.key and signing.key of the folder will do.'

/** @throws ProgramError */
const requireTarget = (target: PostgresTarget | undefined): PostgresTarget => {
  if (!target) throw misused('no record is given\nSet SCRIP_POSTGRES, or SCRIP_POSTGRES_FILE.')
  return target
}

async function showStatus(this: Command): Promise<void> {
  const { postgres, format } = fileConfigOf(this.opts<DataOptions>())
  const target = requireTarget(postgres)
  await explainFaults('PostgreSQL', async () => {
    const connection = new Connection(target, 'status', COMMAND_PATIENCE_MS)
    try {
      const installation = await installationOf(connection.ask)
      if (!installation) throw refused('the record is empty\nscrip serve creates it, or scrip postgres init.')
      const followers = await followersOf(connection.ask, installation.seq)
      const { id, release, schemaVersion, epoch, seq, holder, url } = installation
      const row = { installation: id, release, schema: schemaVersion, epoch, seq, holder, url }
      if (format === 'json') await print(`${jsonOf({ ...row, followers })}\n`)
      else {
        await show(row, format)
        if (followers.length > 0)
          await show({ columns: STATUS_COLUMNS, rows: followers.map((one) => ({ ...one })) }, format)
      }
    } finally {
      connection.close()
    }
  })
}

const INIT = act(
  'Create record',
  'Create the record from the data of a folder, which becomes its first copy',
  {},
  initialize,
  {
    alone: 'folder',
  },
)
