import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../src/db/data-folder.ts'
import { type Running, residentBytes } from '../program.ts'
import { writeCatalogOf } from './catalog.ts'
import { excerpt, type Table, withTable } from './markdown.ts'
import { exchangesFor, startOrdinary } from './ordinary.ts'
import { compiled, folder, Load, startPrepared } from './programs.ts'
import { HEADINGS, PERFORMANCE, README, ROWS, SHOWN } from './shown.ts'
import { startLive, startSandbox } from './subject.ts'
import { mebibytes, milliseconds } from './table.ts'
import { type Contender, compete, summary } from './throughput.ts'
import { Interview, PRODUCTS, type Row } from './works.ts'

/**
 * Measures what docs/performance.md shows of requests, start and memory, all of it by turns in one run, and writes it there
 * and into README.md: processor time, because others on a machine disturb it least.
 */

/** As the columns are named. */
const HEADS: Readonly<Record<string, string>> = { fastify: 'Fastify', elysia: 'Elysia, drizzle' }

interface RecordOptions {
  /** The command of a server, at the default log level. */
  scrip: string[]
  /** The executable of an earlier version. */
  before: string | undefined
  rounds: number
  seconds: number
  startupMs: (command: string[]) => Promise<number>
  idleBytes: (command: string[]) => Promise<number>
}

/** A program as one column of the table. */
interface Column {
  name: string
  served: Running
  exchangesOf: (row: string) => Contender['exchanges'] | undefined
}

export const record = async (options: RecordOptions): Promise<void> => {
  const { scrip, before, rounds, seconds } = options
  const catalog = join(folder, 'catalog.json')
  writeCatalogOf(catalog, PRODUCTS)
  const quietly = (executable = scrip[0] ?? ''): string[] => [executable, ...scrip.slice(1), '--log-level', 'warn']
  const columnOf = async (name: string, startMode: typeof startLive, command: readonly string[]) => {
    const subject = await startMode(command, catalog, name.replaceAll(/\W+/g, '-'))
    const interview = await Interview.begin(subject)
    const rows = new Map((await interview.rows()).map((row): [string, Row] => [row.name, row]))
    const column: Column = { name, served: subject.served, exchangesOf: (row) => rows.get(row)?.exchanges }
    return { column, subject, interview, rows }
  }
  const sandbox = await columnOf('sandbox', startSandbox, quietly())
  const live = await columnOf('live', startLive, quietly())
  const logging = await columnOf('live, logging', startLive, scrip)
  const columns = [sandbox, live, logging]
  if (before !== undefined) {
    columns.push(await columnOf('sandbox, before', startSandbox, quietly(before)))
    columns.push(await columnOf('live, before', startLive, quietly(before)))
  }
  const floor = await startPrepared(compiled('floor'), sandbox.interview)
  const others: Column[] = [{ name: 'floor', served: floor, exchangesOf: sandbox.column.exchangesOf }]
  for (const each of await startOrdinary(databasePath(sandbox.subject.dataDir), sandbox.subject.served.url)) {
    const own = new Map<string, Contender['exchanges']>()
    for (const name of ROWS) {
      const row = sandbox.rows.get(name)
      const scripAt = { url: sandbox.subject.served.url, token: sandbox.interview.token }
      const exchanges = row && (await exchangesFor(each, scripAt, row))
      if (exchanges) own.set(name, exchanges)
    }
    others.push({ name: HEADS[each.name] ?? each.name, served: each.served, exchangesOf: (row) => own.get(row) })
  }
  const all = [...columns.map(({ column }) => column), ...others]
  const table = [['µs', ...all.map(({ name }) => name)]]
  const load = new Load()
  for (const name of ROWS) {
    process.stderr.write(`${name} ...\n`)
    const contenders = all.flatMap(({ name: column, served, exchangesOf }): Contender[] => {
      const exchanges = exchangesOf(name)
      return exchanges ? [{ name: column, served, exchanges, measured: [] }] : []
    })
    await compete(load, { connections: sandbox.rows.get(name)?.connections ?? 1 }, contenders, { rounds, seconds })
    const costOf = ({ name: column }: Column): string => {
      const contender = contenders.find((each) => each.name === column)
      return contender ? summary(contender).cpuUs.toFixed(1) : '-'
    }
    table.push([name, ...all.map(costOf)])
  }
  const after = residentBytes(live.subject.served.pid)
  for (const { served } of all) await served.stop()
  write(table, [
    ['', 'sandbox', 'an empty program'],
    [
      'start to first response',
      milliseconds(await options.startupMs(scrip)),
      milliseconds(await options.startupMs([compiled('hello')])),
    ],
    [
      'memory, idle',
      mebibytes(await options.idleBytes(quietly())),
      mebibytes(await options.idleBytes([compiled('hello')])),
    ],
    ['memory of live mode, after the table above', mebibytes(after), ''],
  ])
}

/** Writes both tables, and what README.md shows of the first one. */
const write = (requests: Table, start: Table): void => {
  const page = withTable(readFileSync(PERFORMANCE, 'utf8'), HEADINGS.requests, requests)
  writeFileSync(PERFORMANCE, withTable(page, HEADINGS.start, start))
  const shown = excerpt(requests, SHOWN.rows, SHOWN.columns)
  writeFileSync(README, withTable(readFileSync(README, 'utf8'), HEADINGS.readme, shown))
}
