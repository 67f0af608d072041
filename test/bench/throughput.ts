import { join } from 'node:path'
import { databasePath } from '../../src/db/data-folder.ts'
import { processorUs, type Running, residentBytes } from '../program.ts'
import { writeCatalogOf } from './catalog.ts'
import type { Exchange, Measurement } from './load.ts'
import { exchangesFor, type Ordinary, startOrdinary } from './ordinary.ts'
import { folder, Load, startPrepared } from './programs.ts'
import { startLive, startSandbox } from './subject.ts'
import { aligned, count, median, milliseconds, ratio, share } from './table.ts'
import { Interview, PRODUCTS, type Row } from './works.ts'

/** How many requests a second, against raw and against the ordinary stacks. */

const WARM_UP_SECONDS = 1
/** From here on the generator may have been what was measured. */
const LOAD_SHARE_HIGH = 0.95
/** Before memory is read, so that the last responses are out; and again, when the runtime has given back what it can. */
const SETTLING_MS = 1_000
const SETTLED_MS = 30_000

/** What a server weighs once the load is over, and a while later. */
export interface Weighed {
  after: number
  later: number
}

export interface ThroughputOptions {
  scrip: readonly string[]
  raw: string
  rounds: number
  seconds: number
  /** Parts of the names of the rows that are measured, between semicolons. */
  only: string
  /** A plain program with the framework that gives the same responses from memory, if it is measured too. */
  floor: string | undefined
  /** Whether the ordinary stacks are measured too. */
  ordinary: boolean
  /** Whether Scrip is measured in live mode. */
  live: boolean
}

/** A measurement, and the processor time that the server needed for a request. */
interface Costed extends Measurement {
  cpuUs: number
}

/** A server that is sent a row, and how it did in each round. */
export interface Contender {
  name: string
  served: Running
  exchanges: readonly Exchange[]
  measured: Costed[]
}

/** Prints the tables, and returns what the servers weigh after all that. */
export const throughput = async (options: ThroughputOptions): Promise<{ scrip: Weighed; raw: Weighed }> => {
  const catalog = join(folder, 'catalog.json')
  writeCatalogOf(catalog, PRODUCTS)
  const subject = await (options.live ? startLive : startSandbox)(options.scrip, catalog)
  const { served: scrip, dataDir } = subject
  const interview = await Interview.begin(subject)
  const rows = await interview.rows()
  const chosen = rows.filter(({ name }) => options.only.split(';').some((part) => name.includes(part)))
  if (chosen.length === 0) throw new Error(`--only takes a part of: ${rows.map(({ name }) => name).join('; ')}`)
  const raw = await startPrepared(options.raw, interview)
  const ordinary: Ordinary[] = []
  if (options.floor) {
    const served = await startPrepared(options.floor, interview)
    ordinary.push({ name: 'floor', served, token: interview.token })
  }
  if (options.ordinary) ordinary.push(...(await startOrdinary(databasePath(dataDir), scrip.url)))
  const load = new Load()
  const besideRaw = [RAW_HEADINGS]
  const besideOrdinary = [ordinaryHeadings(ordinary)]
  for (const row of chosen) {
    process.stderr.write(`${row.name} ...\n`)
    const contenders = await contendersFor(row, { scrip, raw, ordinary, token: interview.token })
    await compete(load, row, contenders, options)
    const [ours, bare, ...others] = contenders
    if (!ours || !bare) continue
    besideRaw.push(rawLine(row, ours, bare))
    if (others.length > 0) besideOrdinary.push(ordinaryLine(row, ours, ordinary, others))
  }
  console.log(aligned(besideRaw).join('\n'))
  if (besideOrdinary.length > 1) console.log(`\n${aligned(besideOrdinary).join('\n')}`)
  console.log(`\nevery status and length was right, and ${count(load.sampled)} bodies that were read whole`)
  await Bun.sleep(SETTLING_MS)
  const after = { scrip: residentBytes(scrip.pid), raw: residentBytes(raw.pid) }
  await Bun.sleep(SETTLED_MS)
  const later = { scrip: residentBytes(scrip.pid), raw: residentBytes(raw.pid) }
  for (const { stop } of [scrip, raw, ...ordinary.map(({ served }) => served)]) await stop()
  return { scrip: { after: after.scrip, later: later.scrip }, raw: { after: after.raw, later: later.raw } }
}

interface Servers {
  scrip: Running
  raw: Running
  ordinary: readonly Ordinary[]
  token: string
}

/** Scrip first and raw second, then those of the ordinary ones that know the response. */
const contendersFor = async (row: Row, { scrip, raw, ordinary, token }: Servers): Promise<Contender[]> => {
  const contenders: Contender[] = [
    { name: 'Scrip', served: scrip, exchanges: row.exchanges, measured: [] },
    { name: 'raw', served: raw, exchanges: row.rawExchanges ?? row.exchanges, measured: [] },
  ]
  for (const each of ordinary) {
    const exchanges = await exchangesFor(each, { url: scrip.url, token }, row)
    if (exchanges) contenders.push({ name: each.name, served: each.served, exchanges, measured: [] })
  }
  return contenders
}

/** Measures one row in alternating rounds, each beginning with the server that the last one ended with. */
export const compete = async (
  load: Load,
  { connections }: Pick<Row, 'connections'>,
  contenders: readonly Contender[],
  { rounds, seconds }: Pick<ThroughputOptions, 'rounds' | 'seconds'>,
): Promise<void> => {
  const measure = async ({ served, exchanges }: Contender, forSeconds: number): Promise<Costed> => {
    load.take(exchanges)
    const before = processorUs(served.pid)
    const measurement = await load.measure(served.port, connections, forSeconds)
    return { ...measurement, cpuUs: (processorUs(served.pid) - before) / measurement.responseCount }
  }
  for (const contender of contenders) await measure(contender, WARM_UP_SECONDS)
  for (let round = 0; round < rounds; round++) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      contender.measured.push(await measure(contender, seconds))
    }
  }
}

const RAW_HEADINGS = [
  '',
  'Scrip/s',
  'raw/s',
  'ratio',
  'of rounds',
  'p50',
  'p99',
  'raw p50',
  'raw p99',
  'generator',
  'CPU µs',
  'raw CPU',
]

const rawLine = (row: Row, ours: Contender, bare: Contender): string[] => {
  const ratios = ratiosOf(ours, bare)
  const [a, b] = [summary(ours), summary(bare)]
  const limited = Math.max(a.loadShare, b.loadShare) > LOAD_SHARE_HIGH ? ' !' : ''
  return [
    row.name,
    count(a.perSecond),
    count(b.perSecond),
    ratio(median(ratios)),
    `${ratio(Math.min(...ratios))}-${ratio(Math.max(...ratios))}`,
    ...[a.p50, a.p99, b.p50, b.p99],
    `${share(a.loadShare)} / ${share(b.loadShare)}${limited}`,
    a.cpuUs.toFixed(1),
    b.cpuUs.toFixed(1),
  ]
}

const ordinaryHeadings = (ordinary: readonly Ordinary[]): string[] => [
  '',
  'Scrip/s',
  'CPU µs',
  ...ordinary.flatMap(({ name }) => [`${name}/s`, 'CPU µs', 'Scrip is', 'by CPU']),
]

const ordinaryLine = (
  row: Row,
  ours: Contender,
  ordinary: readonly Ordinary[],
  others: readonly Contender[],
): string[] => {
  const scrip = summary(ours)
  const cells = ordinary.flatMap(({ name }) => {
    const contender = others.find((other) => other.name === name)
    if (!contender) return ['-', '-', '-', '-']
    const { perSecond, cpuUs } = summary(contender)
    const byCpu = ratio(cpuUs / scrip.cpuUs)
    return [count(perSecond), cpuUs.toFixed(1), `${median(ratiosOf(ours, contender)).toFixed(1)} ×`, byCpu]
  })
  return [row.name, count(scrip.perSecond), scrip.cpuUs.toFixed(1), ...cells]
}

/** How much faster one was than another, in each round. */
export const ratiosOf = (a: Contender, b: Contender): number[] =>
  a.measured.map(({ perSecond }, round) => perSecond / (b.measured[round]?.perSecond ?? Number.NaN))

/** One server's measurements in one figure each. */
export const summary = ({ measured }: Contender) => {
  const of = (figure: keyof Costed): number => median(measured.map((measurement) => measurement[figure]))
  return {
    perSecond: of('perSecond'),
    p50: milliseconds(of('p50Us') / 1_000),
    p99: milliseconds(of('p99Us') / 1_000),
    loadShare: of('loadShare'),
    cpuUs: of('cpuUs'),
  }
}
