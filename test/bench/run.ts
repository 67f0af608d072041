import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Measurement, WARM_UP_MS } from './load.ts'
import { compiled, folder, Load, run, type Served, sizeOf, start, startupMs } from './programs.ts'
import type { Preparation } from './raw.ts'
import { aligned, count, mebibytes, median, milliseconds, ratio, share } from './table.ts'
import { CONNECTIONS, Interview, type Row } from './works.ts'

/**
 * Measures the executable against the bare runtime, in turns, in one run: what is compared was measured within
 * seconds of each other, so that a machine's moods cancel out.
 *
 *     bun run bench [--rounds 5] [--seconds 2] [--only NAME]
 *
 * TEST_BINARY names another executable than dist/scrip. Beneficiaries are written to the folder for temporary files:
 * where that is kept in memory, TMPDIR has to name one on a disk.
 */

const WARM_UP_SECONDS = 1
const STARTS = 10
/** Before memory is read, so that what a start or a burst has left behind is gone. */
const SETTLING_MS = 1_000
/** From here on the generator may have been what was measured. */
const LOAD_SHARE_HIGH = 0.95

const root = resolve(import.meta.dir, '../..')
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
})
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
if (!(rounds >= 1 && seconds > 0)) throw new Error('--rounds and --seconds take a positive number')

const builtScrip = (): string => {
  const path = resolve(root, process.env.TEST_BINARY ?? 'dist/scrip')
  if (!existsSync(path)) run([process.execPath, 'run', '--cwd', root, 'build'], 'inherit')
  return path
}

const scripPath = builtScrip()
const rawPath = compiled('raw')
const helloPath = compiled('hello')
const scripFlags = ['serve', '--port', '0', '--rate-limit', 'off', '--log-level', 'warn']

/** Starts raw with the answers that it is to give. */
const startRaw = (interview: Interview): Promise<Served> => {
  const { token, answers, beneficiaryHeaders } = interview
  const preparation: Preparation = { token, answers, beneficiaryHeaders, databasePath: join(folder, 'raw.sqlite') }
  const path = join(folder, 'preparation.json')
  writeFileSync(path, JSON.stringify(preparation))
  return start([rawPath, path])
}

/** A measurement, and the processor time that the server needed for a request. */
interface Costed extends Measurement {
  cpuUs: number
}

/** One server's measurements in one figure each. */
const summary = (measurements: readonly Costed[]) => {
  const of = (figure: keyof Costed): number => median(measurements.map((measurement) => measurement[figure]))
  return {
    perSecond: of('perSecond'),
    p50: milliseconds(of('p50Us') / 1_000),
    p99: milliseconds(of('p99Us') / 1_000),
    loadShare: of('loadShare'),
    cpuUs: of('cpuUs'),
  }
}

/** Measures one row in alternating rounds, each beginning with the server that the last one ended with. */
const compare = async (load: Load, row: Row, servers: { scrip: Served; raw: Served }): Promise<string[]> => {
  const { scrip, raw } = servers
  const measured = new Map<Served, Costed[]>([
    [scrip, []],
    [raw, []],
  ])
  const measure = async (served: Served, forSeconds: number): Promise<Costed> => {
    load.take((served === raw && row.rawExchanges) || row.exchanges)
    const before = served.cpuUs()
    const measurement = await load.measure(served.port, row.connections, forSeconds)
    const requests = measurement.perSecond * (forSeconds + WARM_UP_MS / 1_000)
    return { ...measurement, cpuUs: (served.cpuUs() - before) / requests }
  }
  for (const served of [scrip, raw]) await measure(served, WARM_UP_SECONDS)
  for (let round = 0; round < rounds; round++) {
    for (const served of round % 2 === 0 ? [scrip, raw] : [raw, scrip]) {
      measured.get(served)?.push(await measure(served, seconds))
    }
  }
  const [ours = [], theirs = []] = [measured.get(scrip), measured.get(raw)]
  const ratios = ours.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? Number.NaN))
  const [a, b] = [summary(ours), summary(theirs)]
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

const HEADINGS = [
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

interface Memory {
  idle: number
  helloIdle: number
  after: number
  rawAfter: number
}

/** Prints the table, and answers what the servers weighed before and after. */
const throughput = async (): Promise<Memory> => {
  const hello = await start([helloPath])
  const scrip = await start([scripPath, ...scripFlags, '--data-dir', join(folder, 'data')])
  await Bun.sleep(SETTLING_MS)
  const [idle, helloIdle] = [scrip.rss(), hello.rss()]
  await hello.stop()
  const interview = await Interview.begin(scrip.url)
  const rows = await interview.rows()
  const raw = await startRaw(interview)
  const load = new Load()
  const table: string[][] = [HEADINGS]
  const chosen = rows.filter(({ name }) => name.includes(options.only))
  if (chosen.length === 0) throw new Error(`--only takes a part of: ${rows.map(({ name }) => name).join('; ')}`)
  for (const row of chosen) {
    process.stderr.write(`${row.name} ...\n`)
    table.push(await compare(load, row, { scrip, raw }))
  }
  console.log(aligned(table).join('\n'))
  console.log(`every status and length was right, and ${count(load.sampled)} bodies that were read whole`)
  await Bun.sleep(SETTLING_MS)
  const [after, rawAfter] = [scrip.rss(), raw.rss()]
  await scrip.stop()
  await raw.stop()
  return { idle, helloIdle, after, rawAfter }
}

/** Starts both in turns. */
const starts = async (): Promise<{ scrip: number; hello: number }> => {
  const times = { scrip: [] as number[], hello: [] as number[] }
  for (let i = 0; i < STARTS; i++) {
    times.hello.push(await startupMs([helloPath]))
    times.scrip.push(await startupMs([scripPath, ...scripFlags]))
  }
  return { scrip: median(times.scrip), hello: median(times.hello) }
}

console.log(`${rounds} rounds of ${seconds} s each, in turns; ${CONNECTIONS} connections unless it says otherwise\n`)
const memory = await throughput()
const started = await starts()
const compared = (what: string, unit: (value: number) => string, scrip: number, bare: number): string[] => [
  what,
  unit(scrip),
  unit(bare),
  unit(scrip - bare),
]
console.log(
  `\n${aligned([
    ['', 'Scrip', 'bare', 'above it'],
    compared('start to first answer', milliseconds, started.scrip, started.hello),
    compared('memory, idle', mebibytes, memory.idle, memory.helloIdle),
    compared('memory, after all that', mebibytes, memory.after, memory.rawAfter),
    compared('executable', mebibytes, sizeOf(scripPath), sizeOf(helloPath)),
  ]).join('\n')}`,
)
process.exit()
