import { Database } from 'bun:sqlite'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { count } from '../bench/table.ts'
import { brokenInvariants } from '../executable/ledger.ts'
import { temporaryFolder } from '../program.ts'
import { bytesOf, Connection } from './connection.ts'
import { Dice } from './dice.ts'
import type { Report, Rig } from './report.ts'
import { logIn, serve } from './server.ts'
import { type Event, eventsIn, TRACED } from './trace.ts'
import { anyWrite, askFor } from './writes.ts'

/**
 * Files as they would be after a power cut. strace records what the server writes and syncs, from an empty folder to its
 * end, and its responses; every prefix of this is a moment at which the power may go. What was synced by then is there;
 * of the rest each write is there, is not, or is torn. A round is such a moment: its files are made, opened and verified.
 */

const WRITES = { long: 400, short: 40 }
const WRITERS = 4
/** Disks write sectors of this size whole. */
const SECTOR_BYTES = 512
const DATABASE = 'scrip.sqlite'
const WAL = `${DATABASE}-wal`

export const power: Rig = async ({ rounds, seed, isShort }) => {
  if (!Bun.which('strace')) return { tables: [[['power'], ['not done: strace is not installed']]], findings: [] }
  using temporary = temporaryFolder()
  const folder = temporary.path
  const dice = new Dice(seed)
  const events = await recorded(folder, WRITES[isShort ? 'short' : 'long'], dice)
  return cuts(join(folder, 'cut'), events, isShort ? 20 : rounds, dice)
}

/** The actions of a server from an empty folder to its end, in order. */
const recorded = async (folder: string, writes: number, dice: Dice): Promise<Event[]> => {
  const trace = join(folder, 'trace')
  const dataDir = join(folder, 'data')
  const through = ['strace', '-f', '-y', '-xx', '-s', '2000000', '-e', `trace=${TRACED}`, '-o', trace]
  const server = await serve(['--data-dir', dataDir, '--rate-limit', 'off'], { through })
  const token = await logIn(server.port, 'sandbox')
  let left = writes
  const writer = async (): Promise<void> => {
    const connection = await Connection.open(server.port)
    while (left-- > 0) await connection.send(bytesOf(askFor(anyWrite(dice, `write-${left}`), token)))
    connection.close()
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  await server.stop()
  return eventsIn(trace, dataDir)
}

/** A file as the disk is sure to have it, and what was written to it since it was synced. */
class Kept {
  #synced: Buffer = Buffer.alloc(0)
  #pending: Event[] = []

  take(event: Event): void {
    if (event.kind === 'sync') {
      for (const each of this.#pending) this.#synced = applied(this.#synced, each)
      this.#pending = []
    } else this.#pending.push(event)
  }

  /** One of the states that a power cut may leave. */
  afterCut(dice: Dice): Buffer {
    let bytes = this.#synced
    for (const each of this.#pending) {
      const fate = dice.below(3)
      if (fate === 0) continue
      bytes = applied(bytes, fate === 1 ? each : torn(each, dice))
    }
    return bytes
  }
}

const applied = (bytes: Buffer, event: Event): Buffer => {
  if (event.kind === 'truncate') {
    const cut = Buffer.alloc(event.at)
    bytes.copy(cut)
    return cut
  }
  if (event.kind !== 'write') return bytes
  const at = event.at === 'end' ? bytes.length : event.at
  const grown = Buffer.alloc(Math.max(bytes.length, at + event.bytes.length))
  bytes.copy(grown)
  event.bytes.copy(grown, at)
  return grown
}

/** Only some of its sectors. */
const torn = (event: Event, dice: Dice): Event => {
  if (event.kind !== 'write') return event
  const sectors = Math.ceil(event.bytes.length / SECTOR_BYTES)
  return { ...event, bytes: event.bytes.subarray(0, dice.below(sectors) * SECTOR_BYTES) }
}

const cuts = (folder: string, events: readonly Event[], rounds: number, dice: Dice): Report => {
  const findings: string[] = []
  const files = new Map<string, Kept>()
  const acknowledged: string[] = []
  const moments = new Set(Array.from({ length: rounds }, () => dice.below(events.length)))
  // The end is a moment as well.
  moments.add(events.length - 1)
  let verified = 0
  for (const [at, event] of events.entries()) {
    if (event.kind === 'response') acknowledged.push(...event.ids)
    else happen(files, event)
    if (!moments.has(at) || acknowledged.length === 0) continue
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const name of [DATABASE, WAL]) {
      const kept = files.get(name)
      if (kept) writeFileSync(join(folder, basename(name)), kept.afterCut(dice))
    }
    findings.push(...faultsIn(folder, acknowledged).map((fault) => `cut after event ${at}: ${fault}`))
    verified += 1
  }
  const syncs = events.filter(({ kind }) => kind === 'sync').length
  const rows = [
    ['done', 'times'],
    ['writes to files', count(events.filter(({ kind }) => kind === 'write').length)],
    ['syncs', count(syncs)],
    ['records acknowledged', count(acknowledged.length)],
    ['power cuts', count(verified)],
    ['lost or broken', count(findings.length)],
  ]
  return { tables: [rows], findings }
}

const happen = (files: Map<string, Kept>, event: Exclude<Event, { kind: 'response' }>): void => {
  const kept = files.get(event.path) ?? new Kept()
  if (event.kind === 'rename' || event.kind === 'remove') files.delete(event.path)
  else files.set(event.path, kept)
  if (event.kind === 'rename') files.set(event.to, kept)
  else if (event.kind !== 'remove') kept.take(event)
}

const faultsIn = (folder: string, acknowledged: readonly string[]): string[] => {
  try {
    const sqlite = new Database(join(folder, DATABASE))
    const ids = new Set(
      sqlite
        .query<{ id: string }, []>('SELECT id FROM beneficiaries UNION ALL SELECT id FROM payouts')
        .all()
        .map(({ id }) => id),
    )
    sqlite.close()
    const lost = acknowledged.filter((id) => !ids.has(id)).map((id) => `${id} is lost`)
    return [...lost, ...brokenInvariants(folder)]
  } catch (error) {
    return [String(error)]
  }
}
