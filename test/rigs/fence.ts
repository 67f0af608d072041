import { parsePostgresUrl } from '../../src/config/postgres-url.ts'
import { Connection } from '../../src/replication/connection.ts'
import { FollowingCopy } from '../../src/replication/follower.ts'
import { Lease } from '../../src/replication/lease.ts'
import { count } from '../bench/table.ts'
import { POSTGRES, Postgres } from '../postgres.ts'
import { openInstallation } from '../replication/opened.ts'
import { Dice } from './dice.ts'
import type { Rig } from './report.ts'

/**
 * An active server is held at its last look at the epoch, before it commits, while another server takes the lease. Either the commit
 * is a part of what the other server continues, or it is never made; nothing that was acknowledged is lost (contract C18).
 */

const HOLDS = [
  'between its look and its commit, which is made',
  'there, and its connection ends',
  'before its look',
] as const

const SHORT = 20

const END_COMMIT = `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
  WHERE query LIKE '%scrip.commit(%' AND state = 'idle in transaction'`

export const fence: Rig = async ({ rounds, seed, isShort, progress }) => {
  if (POSTGRES === undefined) return { tables: [], findings: [] }
  await using postgres = await Postgres.start()
  using installation = await openInstallation(postgres)
  const { run, lease, path, connection } = installation
  const target = parsePostgresUrl(installation.url)
  const [control, beats] = [new Connection(target, 'control'), new Connection(target, 'other')]
  /** The first values of the rows. */
  const sql = async (text: string): Promise<string[]> =>
    (await control.ask<Record<string, unknown>>(text)).map((row) => String(Object.values(row)[0]))
  const other = new Lease({ connection: beats, holder: 'other', url: undefined, onLost: () => undefined })
  const dice = new Dice(seed)
  const findings: string[] = []
  const acknowledged: string[] = []
  const refused: string[] = []
  const tally = new Map<string, number>(HOLDS.map((hold) => [hold, 0]))

  /** Lets the lease run out, and takes it for the other server. */
  const takeOver = async () => {
    for (;;) {
      await sql("SELECT setval('scrip.last_beat', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 3000000)")
      const taken = await other.take(60_000)
      if (taken) return taken
    }
  }
  const untilItWaits = async (isOver: () => boolean): Promise<void> => {
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%scrip.take%'"
    while (!isOver() && (await sql(`SELECT EXISTS (${waiting})`))[0] === 'false') await Bun.sleep(1)
  }

  const total = isShort ? SHORT : rounds
  for (let round = 1; round <= total; round += 1) {
    const hold = HOLDS[dice.below(HOLDS.length)] ?? HOLDS[0]
    const name = `round ${round}`
    tally.set(hold, (tally.get(hold) ?? 0) + 1)
    const paused = holding(connection, hold !== HOLDS[2])
    const written = run(`INSERT INTO seeds VALUES ('${name}', '')`).then(
      () => acknowledged.push(name),
      () => refused.push(name),
    )
    await paused.isThere
    let taken: Awaited<ReturnType<typeof takeOver>> | undefined
    const taking = takeOver().then((grant) => {
      taken = grant
    })
    if (hold === HOLDS[2]) await taking
    else {
      await untilItWaits(() => taken !== undefined)
      if (taken) findings.push(`${name}: the lease was taken while a commit had looked at the epoch`)
    }
    if (hold === HOLDS[1]) await sql(END_COMMIT)
    paused.release()
    await Promise.all([taking, written])
    const [isThere] = await sql(`SELECT EXISTS (SELECT FROM scrip.seeds WHERE name = '${name}')`)
    if ((isThere === 'true') !== (acknowledged.at(-1) === name))
      findings.push(`${name}: ${isThere}, and ${acknowledged.at(-1)}`)
    const [last] = await sql('SELECT max(seq) FROM scrip.changes')
    if (String(taken?.seq) !== last)
      findings.push(`${name}: the lease says ${taken?.seq}, and the last commit is ${last}`)
    // The other server continues, and the first one follows and takes the lease again.
    const next = JSON.stringify({ seeds: [{ name: `${name}, other`, sha256: '' }] })
    await sql(`SELECT scrip.commit(${taken?.epoch}, ${Number(last) + 1}, '${next}', false, true)`)
    await other.free()
    using copy = new FollowingCopy(path)
    while (await copy.follow(control.ask));
    while (!(await lease.take())) await Bun.sleep(1)
    if (round % 50 === 0) progress(`${round} rounds`)
  }
  const broken = `SELECT seq FROM (SELECT seq, epoch, lag(seq) OVER w AS before, lag(epoch) OVER w AS earlier
    FROM scrip.changes WINDOW w AS (ORDER BY seq)) AS c WHERE seq <> before + 1 OR epoch < earlier`
  for (const seq of await sql(broken)) findings.push(`commit ${seq} does not continue the history`)
  const names = new Set(await sql('SELECT name FROM scrip.seeds'))
  for (const name of acknowledged) if (!names.has(name)) findings.push(`${name} was acknowledged, and is lost`)
  for (const name of refused) if (names.has(name)) findings.push(`${name} was refused, and is there`)
  const rows = HOLDS.map((hold) => [hold, count(tally.get(hold) ?? 0)])
  await other.free()
  for (const one of [control, beats]) one.close()
  return {
    tables: [[['the server is held', 'rounds'], ...rows, ['acknowledged', count(acknowledged.length)]]],
    findings,
  }
}

/** Holds the next commit of a connection: in its transaction, after the function of the commit, or before it is sent. */
const holding = (connection: Connection, isInTransaction: boolean) => {
  const isThere = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const { askStrictly } = connection
  connection.askStrictly = async (text, values, patienceMs) => {
    connection.askStrictly = askStrictly
    if (isInTransaction) {
      return connection.transaction('', patienceMs, async (ask) => {
        const rows = await ask<never>(text, values)
        isThere.resolve()
        await release.promise
        await ask('SELECT 1') // fails if the connection has ended
        return rows
      })
    }
    isThere.resolve()
    await release.promise
    return askStrictly.call(connection, text, values, patienceMs) as never
  }
  return { isThere: isThere.promise, release: release.resolve }
}
