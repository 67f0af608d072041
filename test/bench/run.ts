import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { BINARY, residentBytes } from '../program.ts'
import { deliveries } from './deliveries.ts'
import { exploring } from './explore.ts'
import { growth } from './growth.ts'
import { operator } from './operator.ts'
import { postgres } from './postgres.ts'
import { compiled, folder, run, runMs, sizeOf, start, startupMs } from './programs.ts'
import { record } from './record.ts'
import { aligned, mebibytes, median, milliseconds, ratio } from './table.ts'
import { throughput } from './throughput.ts'
import { CONNECTIONS, PRODUCTS } from './works.ts'
import { worlds } from './worlds.ts'

/**
 * Measures the executable against the bare runtime, in turns, in one run: what is compared was measured within
 * seconds of each other, so that a machine's moods cancel out.
 *
 *     bun run bench [--floor] [--ordinary] [--live] [--log] [--rounds 5] [--seconds 2] [--only 'NAME;...']
 *     bun run bench --growth [--rounds 3] [--seconds 0.5] [--only NAME]
 *     bun run bench --record [--before EXECUTABLE] [--rounds 5] [--seconds 2]
 *     bun run bench --worlds
 *     bun run bench --explore
 *     bun run bench --deliveries [--rounds 1000]
 *     bun run bench --operator [--transactions 1000000] [--products 100000]
 *     bun run bench --postgres [--rounds 5] [--seconds 2] [--transactions 1000000] [--only NAME]
 *
 * `--floor` measures a plain program with the same framework, which gives the same responses from memory, beside it;
 * `--ordinary` measures what ordinary stacks make of the same requests; `--live` measures live mode instead of
 * the sandbox, without orders, for which it would have to have codes; `--log` writes the default log to a file; `--growth` measures what a request
 * costs as the data grows, instead; `--record` measures what docs/performance.md and
 * README.md show, and writes it there, with an earlier executable in the same run if there is one; `--worlds` measures worlds alone; `--explore` how long a suite is explored;
 * `--deliveries` how fast so many events are delivered to 20 webhooks; `--operator` commands on much data, and what
 * clients notice of them; `--postgres` what a record in PostgreSQL costs.
 * TEST_BINARY names another executable than dist/scrip. Beneficiaries are written to
 * the folder for temporary files: where that is kept in memory, TMPDIR has to name one on a disk.
 */

const STARTS = 10
/** Delivered to 20 webhooks each. */
const EVENTS = 1_000
/** Before memory is read, so that what a start has left behind is gone. */
const SETTLING_MS = 1_000

const root = resolve(import.meta.dir, '../..')
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    floor: { type: 'boolean', default: false },
    ordinary: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
    live: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    before: { type: 'string' },
    worlds: { type: 'boolean', default: false },
    explore: { type: 'boolean', default: false },
    deliveries: { type: 'boolean', default: false },
    operator: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
    transactions: { type: 'string', default: '1000000' },
    products: { type: 'string', default: '100000' },
  },
})
const rounds = Number(options.rounds ?? (options.growth ? 3 : 5))
const seconds = Number(options.seconds ?? (options.growth ? 0.5 : 2))
if (!(rounds >= 1 && seconds > 0)) throw new Error('--rounds and --seconds take a positive number')

const builtScrip = (): string => {
  if (!existsSync(BINARY)) run([process.execPath, 'run', '--cwd', root, 'build'], 'inherit')
  return BINARY
}

const scripPath = builtScrip()
const atDefaults = [scripPath, 'serve', '--port', '0', '--rate-limit', 'off']
const quiet = options.log ? [] : ['--log-level', 'warn']
const scrip = [...atDefaults, ...quiet]

/** What a server weighs before it is asked anything. */
const idleBytes = async (command: string[]): Promise<number> => {
  const server = await start(command)
  await Bun.sleep(SETTLING_MS)
  const bytes = residentBytes(server.pid)
  await server.stop()
  return bytes
}

/** Starts all of them in turns. */
const startMs = async (helloPath: string): Promise<Record<'scrip' | 'hello' | 'run', number>> => {
  const times = { scrip: [] as number[], hello: [] as number[], run: [] as number[] }
  for (let i = 0; i < STARTS; i++) {
    times.hello.push(await startupMs([helloPath]))
    times.scrip.push(await startupMs(scrip))
    times.run.push(await runMs([scripPath, 'run', '--', 'true']))
  }
  return { scrip: median(times.scrip), hello: median(times.hello), run: median(times.run) }
}

const medianStartMs = async (command: string[]): Promise<number> => {
  const times: number[] = []
  for (let i = 0; i < STARTS; i++) times.push(await startupMs(command))
  return median(times)
}

const compared = (what: string, unit: (value: number) => string, ours: number, bare: number): string[] => [
  what,
  unit(ours),
  unit(bare),
  unit(ours - bare),
]

const speed = async (): Promise<void> => {
  const [rawPath, helloPath] = [compiled('raw'), compiled('hello')]
  console.log(
    `${rounds} rounds of ${seconds} s each, in turns; ${CONNECTIONS} connections unless it says otherwise; ${PRODUCTS.toLocaleString('en')} products\n`,
  )
  const [idle, kept, bare] = [
    await idleBytes(scrip),
    await idleBytes([...scrip, '--data-dir', join(folder, 'idle')]),
    await idleBytes([helloPath]),
  ]
  const { only, ordinary, live } = options
  const floor = options.floor ? compiled('floor') : undefined
  const weighed = await throughput({ scrip, raw: rawPath, floor, rounds, seconds, only, ordinary, live })
  const started = await startMs(helloPath)
  console.log(
    `\n${aligned([
      ['', 'Scrip', 'bare', 'above it'],
      compared('start to first response', milliseconds, started.scrip, started.hello),
      compared('memory, idle', mebibytes, idle, bare),
      compared('memory, idle, in a new folder', mebibytes, kept, bare),
      compared('memory, after all that', mebibytes, weighed.scrip.after, weighed.raw.after),
      compared('memory, half a minute later', mebibytes, weighed.scrip.later, weighed.raw.later),
      compared('executable', mebibytes, sizeOf(scripPath), sizeOf(helloPath)),
    ]).join('\n')}`,
  )
  const share = ratio(started.run / started.scrip)
  console.log(`\nscrip run -- true: ${milliseconds(started.run)}, ${share} times the start of the server alone`)
  await ofWorlds()
}

const ofWorlds = (): Promise<void> => worlds(scrip, join(folder, 'worlds'))

if (options.growth) await growth({ scrip, rounds, seconds, only: options.only })
else if (options.record) {
  const { before } = options
  await record({ scrip: atDefaults, before, rounds, seconds, idleBytes, startupMs: medianStartMs })
} else if (options.worlds) await ofWorlds()
else if (options.explore) await exploring(scripPath)
else if (options.deliveries) await deliveries(scrip, Number(options.rounds ?? EVENTS))
else if (options.operator)
  await operator({ transactions: Number(options.transactions), products: Number(options.products), folder })
else if (options.postgres)
  await postgres({ rounds, seconds, transactions: Number(options.transactions), only: options.only })
else await speed()
process.exit()
