import { sinceStartMs } from '../../../kernel/clock.ts'
import { type Environment, spawn } from './child.ts'

/** Signals that end an exploration. */
const ENDING = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const

export interface EndedCommand {
  /** Undefined if it was ended after its time limit. */
  exitCode: number | undefined
  durationMs: number
}

/** The command that is explored. Several of its runs may be in progress. */
export class ExploredCommand {
  readonly #running = new Set<Bun.Subprocess>()
  #signal: NodeJS.Signals | undefined

  constructor(private readonly words: readonly string[]) {
    for (const signal of ENDING) {
      process.on(signal, () => {
        this.#signal ??= signal
        for (const child of this.#running) signalAll(child, signal)
      })
    }
  }

  /** The signal that has ended the exploration. */
  get signal(): NodeJS.Signals | undefined {
    return this.#signal
  }

  /** @throws ProgramError when it cannot be started */
  async run(env: Environment, output: 'inherit' | 'ignore', timeoutMs?: number): Promise<EndedCommand> {
    const beganMs = sinceStartMs()
    const child = spawn(this.words, {
      env,
      // All runs read the same: nothing.
      stdin: 'ignore',
      stdout: output,
      stderr: output,
      // Its own process group, so that no process outlives it.
      detached: true,
    })
    this.#running.add(child)
    let isCutOff = false
    const cutOff = () => {
      isCutOff = true
      signalAll(child, 'SIGKILL')
    }
    const timer = timeoutMs === undefined ? undefined : setTimeout(cutOff, timeoutMs)
    try {
      const exitCode = await child.exited
      return { exitCode: isCutOff ? undefined : exitCode, durationMs: sinceStartMs() - beganMs }
    } finally {
      clearTimeout(timer)
      this.#running.delete(child)
      signalAll(child, 'SIGKILL')
    }
  }
}

/** Signals a command and the processes that it has started. */
const signalAll = (child: Bun.Subprocess, signal: NodeJS.Signals): void => {
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal) // Windows has no groups; elsewhere, nothing of the group is left
  }
}
