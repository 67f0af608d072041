import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePostgresUrl } from '../../src/config/postgres-url.ts'
import { HOUR_MS } from '../../src/kernel/clock.ts'
import { Connection as Record } from '../../src/replication/connection.ts'
import { count, milliseconds, ratio } from '../bench/table.ts'
import { MEMORY, POSTGRES, Postgres } from '../postgres.ts'
import { run, temporaryFolder } from '../program.ts'
import { PAYEE } from '../records.ts'
import { bytesOf, Connection } from './connection.ts'
import { LiveFolder } from './live-folder.ts'
import { percentile, type Rig } from './report.ts'
import { logIn, serve } from './server.ts'

/**
 * Somebody holds a snapshot of PostgreSQL open, as pg_dump, a report or a forgotten BEGIN does, while a server commits payouts from
 * one wallet and renews its lease as often as in an hour. PostgreSQL keeps each version of each row meanwhile. A commit takes at most
 * twice its processor time at the end, and a renewal twice its time at the beginning (contract C18).
 */

const BEATS_PER_COMMIT = 7_200 / 20_000
const SHORT = 2_000
const PARTS = 10
const GROWTH_MAX = 2
/** As Linux counts it. */
const TICK_MS = 10

export const snapshot: Rig = async ({ rounds, isShort, progress }) => {
  if (POSTGRES === undefined) return { tables: [], findings: [] }
  using folder = temporaryFolder(MEMORY)
  await using postgres = await Postgres.start([], MEMORY)
  const live = await LiveFolder.make(join(folder.path, 'live'), 1)
  const env = {
    SCRIP_VOUCHER_KEY: readFileSync(join(live.dataDir, 'voucher.key'), 'utf8').trim(),
    SCRIP_SIGNING_KEY: '22'.repeat(32),
    SCRIP_POSTGRES: await postgres.create('rig'),
  }
  const { exitCode, stderr } = await run(['postgres', 'init', '--data-dir', live.dataDir], { env })
  if (exitCode !== 0) throw new Error(`scrip postgres init: ${exitCode} ${stderr}`)
  const server = await serve(['--mode', 'live', '--rate-limit', 'off', '--data-dir', live.dataDir], { env })
  const token = await logIn(server.port, live.payer.username, live.payer.password)
  const connection = await Connection.open(server.port)
  const target = parsePostgresUrl(env.SCRIP_POSTGRES)
  const [holder, beats] = [new Record(target, 'holder'), new Record(target, 'beats')]
  const findings: string[] = []
  const pay = async (name: string): Promise<void> => {
    const { status, body } = await connection.send(
      bytesOf({
        path: '/api/v1/payouts',
        headers: { Authorization: `Bearer ${token}` },
        body: JSON.stringify({ reference_id: name, wallet_id: 1, amount: 1, currency: 'USD', ...PAYEE }),
      }),
    )
    if (status !== 201) findings.push(`${name}: ${status} ${body}`)
  }
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startMs = performance.now()
    await work()
    return performance.now() - startMs
  }
  const commits = isShort ? SHORT : rounds
  for (let warming = 0; warming < commits / PARTS; warming += 1) await pay(`warm ${warming}`)
  const isOver = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const reading = holder.transaction('isolation level repeatable read read only', HOUR_MS, async (ask) => {
    await ask('SET LOCAL idle_in_transaction_session_timeout = 0')
    await ask('SELECT count(*) FROM scrip.changes')
    isHeld.resolve()
    await isOver.promise
  })
  await isHeld.promise
  const parts = Array.from({ length: PARTS }, () => ({ commits: [] as number[], beats: [] as number[], cpuMs: 0 }))
  const [{ pid } = { pid: 0 }] = await beats.ask<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'scrip commits%'",
  )
  const cpuMs = (): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  }
  let due = 0
  for (const [index, part] of parts.entries()) {
    const beforeMs = cpuMs()
    for (let number = 0; number < commits / PARTS; number += 1) {
      part.commits.push(await timed(() => pay(`part ${index} ${number}`)))
      for (due += BEATS_PER_COMMIT; due >= 1; due -= 1)
        part.beats.push(await timed(() => beats.ask('SELECT scrip.beat(epoch) FROM scrip.fence')))
    }
    part.cpuMs = (cpuMs() - beforeMs) / part.commits.length
    progress(`${count(((index + 1) * commits) / PARTS)} commits`)
  }
  isOver.resolve()
  await reading
  for (const one of [holder, beats]) one.close()
  connection.close()
  await server.stop()
  const [first = 0, last = 0] = [parts[0]?.cpuMs, parts.at(-1)?.cpuMs]
  if (last > GROWTH_MAX * first)
    findings.push(`the processor time of a commit went from ${milliseconds(first)} to ${milliseconds(last)}`)
  const [firstBeatMs = 0, lastBeatMs = 0] = [parts[0], parts.at(-1)].map((part) => percentile(part?.beats ?? [], 0.5))
  if (lastBeatMs > GROWTH_MAX * firstBeatMs)
    findings.push(`a renewal went from ${milliseconds(firstBeatMs)} to ${milliseconds(lastBeatMs)}`)
  const rows = parts.map((part, index) => [
    count(((index + 1) * commits) / PARTS),
    milliseconds(part.cpuMs),
    milliseconds(percentile(part.commits, 0.5)),
    milliseconds(percentile(part.beats, 0.5)),
  ])
  const head = ['commits', 'processor time of one', 'p50 of a payout', 'p50 of a renewal']
  return {
    tables: [[head, ...rows, ['last/first', ratio(last / first), '', ratio(lastBeatMs / firstBeatMs)]]],
    findings,
  }
}
