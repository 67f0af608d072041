import type { Performer } from '../../acts/act.ts'
import { administrationOf } from '../../acts/administration.ts'
import type { DataConfig } from '../../config/config.ts'
import { copyWithoutPostgres, findPosition } from '../../db/copy-position.ts'
import { Database } from '../../db/database.ts'
import { requireCurrentSchema } from '../../db/migrate.ts'
import { expiringEvents } from '../../events/expiry.ts'
import { databasePath, hasDatabase } from '../../folder/files.ts'
import { systemClock } from '../../kernel/clock.ts'
import { DataFault } from '../../kernel/exit.ts'
import { secureRandomness } from '../../kernel/ids.ts'
import type { Cipher } from '../../orders/cipher.ts'
import { dueOrders } from '../../orders/delivery.ts'
import { importedSupply } from '../../orders/supply.ts'
import { openCipher } from '../../orders/voucher-key.ts'
import { duePayouts } from '../../payouts/progress.ts'
import type { CopyAccess } from '../../replication/command.ts'
import { readReference } from '../../start/seed.ts'
import { expiringAttempts } from '../../webhooks/clearing.ts'
import { queueEventsOf } from '../../webhooks/queue.ts'
import { DueWork } from '../../work/due.ts'
import { World } from '../../work/world.ts'
import { DEFAULT_WORLD } from '../../work/worlds.ts'
import { holdsNoDatabase } from '../records/administration.ts'
import { note } from '../terminal/output.ts'

/**
 * A command that holds the folder performs acts itself; `folder` knows no PostgreSQL. @throws ProgramError
 */
export const withPerformer = async <T>(
  config: DataConfig,
  needs: 'write' | 'folder',
  work: (performer: Performer) => Promise<T>,
): Promise<T> => {
  if (!config.postgres || needs === 'folder') return await withFolder(config, needs, undefined, work)
  const { withCopy } = await import('../records/replication.ts')
  return await withCopy(config, config.postgres, 'write', (joined) => withFolder(config, needs, joined, work))
}

const withFolder = async <T>(
  config: DataConfig,
  needs: 'write' | 'folder',
  joined: CopyAccess | undefined,
  work: (performer: Performer) => Promise<T>,
): Promise<T> => {
  const { dataDir } = config
  if (!hasDatabase(dataDir)) throw holdsNoDatabase(dataDir)
  const database = Database.openFile(databasePath(dataDir))
  try {
    requireCurrentSchema(database.sqlite)
    const position = findPosition(database.sqlite)
    const gate = joined?.gateOf?.(database)
    if (position && !gate && needs === 'write') throw new DataFault(copyWithoutPostgres(position, dataDir))
    if (gate) database.gateBy(gate)
    const world = new World(DEFAULT_WORLD, database, systemClock, secureRandomness)
    queueEventsOf(world)
    const administration = administrationOf(world, readReference())
    const { reference } = administration
    const delivering = deliveringOf(config, database, reference)
    // Due work comes first.
    const due = new DueWork(
      [dueOrders(delivering), duePayouts({ reference, byClock: () => false }), expiringEvents, expiringAttempts],
      ({ kind, id }) => note(`A due step failed and was skipped: ${id} of the ${kind}.`, config.format),
    )
    if (needs === 'write') await due.catchUp(world)
    return await work({
      ...administration,
      config,
      database,
      delivering,
      isCopy: position !== undefined,
      write: (unit) => database.write(unit),
      refresh: () => undefined,
    })
  } finally {
    database.leave()
  }
}

/** The key is read when something is encrypted or decrypted: most acts do neither. */
const deliveringOf = (
  { dataDir, voucherKey, format }: DataConfig,
  database: Database,
  reference: Performer['reference'],
): Performer['delivering'] => {
  let cipher: Cipher | undefined
  const ciphers = (): Cipher => (cipher ??= openCipher(database, dataDir, voucherKey))
  const onDamaged = ({ stockId }: { stockId: number }) =>
    note(`Voucher ${stockId} of the stock cannot be decrypted and is no longer for sale.`, format)
  return { reference, ciphers, supply: importedSupply({ ciphers, onDamaged }) }
}
