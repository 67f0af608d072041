import { join, resolve } from 'node:path'
import { residentBytes } from '../program.ts'
import { folder, SANDBOX, start } from './programs.ts'
import { actIn, writeCatalog } from './requests.ts'
import { markdown, mebibytes, median, milliseconds } from './table.ts'

/** Scrip's start time, and its memory before the first request, beside an empty program (hello.ts). */

const STARTS = 10
/** The pause before memory is read, so that garbage of the start is collected. */
const SETTLING_MS = 1_000

/** Prints the table. */
export const starts = async (): Promise<void> => {
  const source = ['sh', resolve(import.meta.dir, '../../.ci/start'), ...SANDBOX.slice(2)]
  const live = join(folder, 'live')
  await actIn(live, SANDBOX.slice(0, 1), ['catalog', 'import', writeCatalog()])
  const commands: [name: string, command: readonly string[]][] = [
    ['sandbox', SANDBOX],
    ['sandbox, in a folder', [...SANDBOX, '--data-dir', join(folder, 'started')]],
    ['sandbox, from source (npm start, without npm)', source],
    ['live, with 10,000 products', [...SANDBOX, '--mode', 'live', '--data-dir', live]],
    ['an empty program', [await emptyProgram()]],
  ]
  const times = new Map(commands.map(([name]): [string, number[]] => [name, []]))
  for (let round = 0; round < STARTS; round++) {
    for (const [name, command] of commands) times.get(name)?.push(await startMs(command))
  }
  const rows: string[][] = []
  for (const [name, command] of commands) {
    rows.push([name, milliseconds(median(times.get(name) ?? [])), mebibytes(await idleBytes(command))])
  }
  console.log(markdown([['', 'start to first response', 'memory, idle'], ...rows]))
}

/** Compiled as Scrip is. */
const emptyProgram = async (): Promise<string> => {
  const path = join(folder, 'hello')
  const flags = ['--compile', '--bytecode', '--format=esm', '--no-compile-autoload-dotenv', '--outfile', path]
  await Bun.$`${process.execPath} build ${import.meta.dir}/hello.ts ${flags}`.quiet()
  return path
}

const startMs = async (command: readonly string[]): Promise<number> => {
  const startedMs = performance.now()
  const server = await start(command, 'any')
  await (await server.request('/status')).text()
  const elapsedMs = performance.now() - startedMs
  await server.stop()
  return elapsedMs
}

const idleBytes = async (command: readonly string[]): Promise<number> => {
  const server = await start(command)
  await Bun.sleep(SETTLING_MS)
  const bytes = residentBytes(server.pid)
  await server.stop()
  return bytes
}
