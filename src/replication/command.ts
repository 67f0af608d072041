import { hostname } from 'node:os'
import type { PostgresTarget } from '../config/postgres-url.ts'
import { type Position, positionIn } from '../db/copy-position.ts'
import type { Database } from '../db/database.ts'
import { SCHEMA_VERSION } from '../db/migrate.ts'
import { databasePath, makeDataFolder, removeDatabase } from '../folder/files.ts'
import { lockForWriting } from '../folder/lock.ts'
import { sinceStartMs } from '../kernel/clock.ts'
import { DataFault } from '../kernel/exit.ts'
import { freshInstallationId, freshSecret } from '../kernel/ids.ts'
import { installEmpty } from './activate.ts'
import { COMMAND_PATIENCE_MS, Connection } from './connection.ts'
import { CopyUnfit, preparationOf, quarantine } from './copy-check.ts'
import { FollowingCopy } from './follower.ts'
import { type GateLease, PostgresGate } from './gate.ts'
import { checkKey, type Installation, installationOf, NotActive } from './installation.ts'
import { Lease } from './lease.ts'
import { pullCopy } from './pull.ts'
import { tablesOf } from './tables.ts'

/** The access of a command to a copy of the installation (contract C18). */

/** A command that writes holds the folder, and no server runs on it. */
export type Needs = 'read' | 'write'

interface JoinOptions {
  target: PostgresTarget
  dataDir: string
  signingKey: Uint8Array | undefined
  release: string
  needs: Needs
  /** Makes a new database in the folder. */
  create: () => void
}

export interface CopyAccess {
  /** The gate for a database of the folder; undefined if it may only be read. */
  gateOf: ((database: Database) => PostgresGate) | undefined
  /** The lag of the copy of a warm server. */
  lagSeconds: number | undefined
  leave: () => Promise<void>
}

/** A killed server may still appear to hold the lease for this time. */
const EXPIRY_MS = 2_500
const LOOK_MS = 200

/** @throws ProgramError */
export const joinInstallation = async (options: JoinOptions): Promise<CopyAccess> => {
  const { target, dataDir, signingKey, needs } = options
  makeDataFolder(dataDir)
  const connection = new Connection(target, 'command', COMMAND_PATIENCE_MS)
  const beats = new Connection(target, 'command beats')
  using lock = needs === 'read' ? lockForWriting(dataDir) : undefined
  const leave = async (): Promise<void> => {
    connection.close()
    beats.close()
  }
  try {
    const installation = await installationOf(connection.ask)
    if (installation && signingKey) await checkKey(connection.ask, 'signing', signingKey)
    return lock || needs === 'write'
      ? await joinAlone({ ...options, connection, beats, leave }, installation)
      : await joinServer({ ...options, connection, beats, leave }, installation)
  } catch (error) {
    await leave()
    throw error
  }
}

interface JoinedInstallation extends JoinOptions {
  connection: Connection
  beats: Connection
  leave: () => Promise<void>
}

/** Without a server, the copy is brought up to date, and a command that writes takes the lease in the meantime. */
const joinAlone = async (joined: JoinedInstallation, found: Installation | undefined): Promise<CopyAccess> => {
  const { dataDir, connection, beats, needs, leave, release, create, signingKey } = joined
  let installation = found
  if (standing(dataDir, installation) === 'create') {
    if (!signingKey)
      throw new DataFault(
        'the record is empty, and a new one needs the keys of all servers\nSet SCRIP_VOUCHER_KEY and SCRIP_SIGNING_KEY.',
      )
    const id = freshInstallationId()
    await installEmpty({ connection, dataDir, id, release, signingKey }, create)
    installation = await installationOf(connection.ask)
  }
  if (!installation) throw new DataFault('the record is gone\nRestore it.')
  const position = await broughtUpToDate(joined, installation)
  if (needs === 'read') return { lagSeconds: undefined, gateOf: undefined, leave }
  if (installation.schemaVersion < SCHEMA_VERSION) {
    throw new DataFault(
      `the record is at schema ${installation.schemaVersion}, and this program needs schema ${SCHEMA_VERSION}\nscrip serve brings it up to date.`,
    )
  }
  const holder = `${hostname()}-command-${Buffer.from(freshSecret(6)).toString('hex')}`
  const lease = new Lease({ connection: beats, holder, url: undefined, onLost: () => undefined })
  // The lease of a server that was killed on this folder runs out soon.
  const waitMs = position.leaseEpoch === installation.epoch ? EXPIRY_MS : 0
  const endMs = sinceStartMs() + waitMs
  let taken = await lease.take(COMMAND_PATIENCE_MS)
  while (!taken && sinceStartMs() < endMs) {
    await Bun.sleep(LOOK_MS)
    taken = await lease.take(COMMAND_PATIENCE_MS)
  }
  if (!taken) throw new NotActive(await installationOf(connection.ask))
  await broughtUpToDate(joined, installation)
  return {
    lagSeconds: undefined,
    gateOf: gateWith(connection, unhurried(lease)),
    leave: async () => {
      await lease.free()
      await leave()
    },
  }
}

const standing = (dataDir: string, installation: Installation | undefined) => {
  try {
    return preparationOf(dataDir, installation)
  } catch (error) {
    if (!(error instanceof CopyUnfit)) throw error
    quarantine(dataDir)
    return 'pull'
  }
}

const broughtUpToDate = async (
  { dataDir, connection }: JoinedInstallation,
  installation: Installation,
): Promise<Position> => {
  for (;;) {
    if (standing(dataDir, installation) === 'pull')
      await pullCopy(connection, dataDir, { schemaVersion: installation.schemaVersion, isStopped: () => false })
    using copy = new FollowingCopy(databasePath(dataDir))
    try {
      while (await copy.follow(connection.ask));
      return copy.position
    } catch (error) {
      if (!(error instanceof CopyUnfit)) throw error
      copy[Symbol.dispose]()
      if (error.isAhead) quarantine(dataDir)
      else removeDatabase(databasePath(dataDir))
    }
  }
}

/** Beside a server, a command only reads. */
const joinServer = async (joined: JoinedInstallation, installation: Installation | undefined): Promise<CopyAccess> => {
  const { dataDir, connection, leave } = joined
  const position = preparationOf(dataDir, installation) === 'follow' ? positionIn(databasePath(dataDir)) : undefined
  if (!position || !installation)
    throw new DataFault('a server is still building the copy in this folder\nTry again when it is ready.')
  const isActiveHere = installation.holder !== null && position.leaseEpoch === installation.epoch
  const lagSeconds = isActiveHere ? undefined : await lagSecondsOf(connection, position)
  return { gateOf: undefined, lagSeconds, leave }
}

const lagSecondsOf = async ({ ask }: Connection, { seq }: Position): Promise<number> => {
  const [row] = await ask<{ seconds: number | null }>(
    'SELECT extract(epoch FROM clock_timestamp() - min(at))::float8 AS seconds FROM scrip.changes WHERE seq > $1',
    [seq],
  )
  return Math.max(0, row?.seconds ?? 0)
}

const gateWith =
  (connection: Connection, lease: GateLease) =>
  ({ sqlite }: Database): PostgresGate =>
    new PostgresGate({
      sqlite,
      tables: tablesOf(sqlite),
      connection,
      lease,
      onBehind: () => undefined,
      waitsForOutcome: true,
    })

/**
 * A lease that ignores its time limit, because nobody reads the copy of a command meanwhile. On a busy machine a renewal may be
 * late; PostgreSQL refuses a commit that is too late.
 */
const unhurried = (lease: Lease): GateLease => ({
  get epoch() {
    return lease.epoch
  },
  isGood: true,
  lost: () => lease.lost(),
  take: () => lease.take(),
})
