import { existsSync } from 'node:fs'
import { PROJECT } from './compile.ts'
import type { Target } from './targets.ts'

const STARTS = 7

export const runsHere = ({ runsOn: { platform, arch, loader } }: Target): boolean =>
  process.platform === platform && process.arch === arch && (loader === undefined || existsSync(loader))

/** Milliseconds from the start of a server to its first response. @throws Error */
const startMs = async (command: readonly string[]): Promise<number> => {
  const startedAtMs = performance.now()
  const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' })
  try {
    const { value } = await child.stdout.getReader().read()
    const url = /url=(\S+)/.exec(new TextDecoder().decode(value))?.[1]
    if (url === undefined) throw new Error(`${command[0]} does not start: ${await child.stderr.text()}`)
    const response = await fetch(`${url}/status`)
    const elapsedMs = performance.now() - startedAtMs
    if (!response.ok) throw new Error(`${command[0]} answers ${response.status} to /status`)
    return elapsedMs
  } finally {
    child.kill('SIGTERM')
    await child.exited
  }
}

const medianOf = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0

/** Median times, beside those of a bare server. */
export interface Starts {
  programMs: number
  bareMs: number
}

/** @throws Error when the executable does not work */
export const tryOut = async (executable: string, bare: string): Promise<Starts> => {
  const version = Bun.spawnSync([executable, 'version']).stdout.toString().trim()
  if (version !== PROJECT.version) throw new Error(`says that its version is ${version || 'none'}`)
  const times: Starts[] = []
  for (let count = 0; count < STARTS; count += 1) {
    times.push({
      programMs: await startMs([executable, 'serve', '--port', '0', '--log-level', 'error']),
      bareMs: await startMs([bare]),
    })
  }
  return {
    programMs: medianOf(times.map((time) => time.programMs)),
    bareMs: medianOf(times.map((time) => time.bareMs)),
  }
}
