import type { Performer } from '../../acts/act.ts'
import type { Config } from '../../config/config.ts'
import { findPosition } from '../../db/copy-position.ts'
import type { Log } from '../../observability/log.ts'
import type { ReplicatedServer } from '../../replication/server.ts'
import type { World } from '../../work/world.ts'
import { type ActsServer, listenForActs } from '../acts/listen.ts'

interface Serving extends Pick<Performer, 'delivering' | 'refresh'> {
  config: Config
  log: Log
  /** The world of live mode, which is served while the server is active. */
  worldOf: () => World
  replica: ReplicatedServer | undefined
}

/** The server of a live folder performs acts for commands (contract C20). Undefined for a sandbox. */
export const serveActs = ({ config, log, worldOf, replica, delivering, refresh }: Serving): ActsServer | undefined => {
  const { mode, dataDir, voucherKey, signingKey, postgres } = config
  if (mode !== 'live' || dataDir === undefined) return undefined
  return listenForActs({
    dataDir,
    log,
    acts: async () => (await import('../acts/table.ts')).loadActs(),
    performer: async () => {
      if (replica && !replica.isServing) throw await replica.notActive()
      const { administrationOf } = await import('../../acts/administration.ts')
      const world = worldOf()
      return {
        ...administrationOf(world, delivering.reference),
        config: { dataDir, voucherKey, signingKey, postgres, format: 'json' },
        database: world.db,
        delivering,
        isCopy: findPosition(world.db.sqlite) !== undefined,
        write: (unit) => world.db.writePatiently(unit),
        refresh,
      }
    },
  })
}
