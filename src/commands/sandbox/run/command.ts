import { sinceStartMs } from '../../../kernel/clock.ts'
import { EXIT, ProgramError } from '../../../kernel/exit.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Signals that would end this program and leave the command behind. */
const PASSED_ON = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'] as const

interface RunOptions {
  /** `inherit`: the command has standard input, output and error. `detached`: it reads nothing, and has its own process group. */
  as: 'inherit' | 'detached'
  output?: 'inherit' | 'ignore'
  timeoutMs?: number | undefined
}

export interface EndedCommand {
  /** As a shell would give it; undefined if the command was ended after its time limit. */
  exitCode: number | undefined
  durationMs: number
}

/** A command that may run several times at once. Signals are passed on to it, and do not end this program, which has files to finish. */
export class Command {
  readonly #running = new Set<(signal: NodeJS.Signals) => void>()
  #signal: NodeJS.Signals | undefined

  constructor(private readonly words: readonly string[]) {
    for (const signal of PASSED_ON) {
      process.on(signal, () => {
        if (!signal.startsWith('SIGUSR')) this.#signal ??= signal
        for (const send of this.#running) send(signal)
      })
    }
  }

  /** The signal that was to end this program. */
  get signal(): NodeJS.Signals | undefined {
    return this.#signal
  }

  /** @throws ProgramError when it cannot be started */
  async run(env: Environment, { as, output = 'inherit', timeoutMs }: RunOptions): Promise<EndedCommand> {
    const beganMs = sinceStartMs()
    const detached = as === 'detached'
    const child = this.#spawn({ env, stdin: detached ? 'ignore' : 'inherit', stdout: output, stderr: output, detached })
    const send = (signal: NodeJS.Signals): void => (detached ? signalGroup(child, signal) : child.kill(signal))
    this.#running.add(send)
    let isCutOff = false
    const cutOff = (): void => {
      isCutOff = true
      send('SIGKILL')
    }
    const timer = timeoutMs === undefined ? undefined : setTimeout(cutOff, timeoutMs)
    try {
      const exitCode = await child.exited // 128 and the number of the signal, when it died by one
      return { exitCode: isCutOff ? undefined : exitCode, durationMs: sinceStartMs() - beganMs }
    } finally {
      clearTimeout(timer)
      this.#running.delete(send)
      if (detached) signalGroup(child, 'SIGKILL') // ends all of its processes
    }
  }

  #spawn(options: Bun.SpawnOptions.OptionsObject<Streams, Streams, Streams>): Bun.Subprocess {
    try {
      return Bun.spawn([...this.words], options)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const exitCode = code === 'ENOENT' ? EXIT.commandNotFound : EXIT.commandNotExecutable
      throw new ProgramError(exitCode, `cannot run ${this.words[0]}: ${message}`)
    }
  }
}

type Streams = 'inherit' | 'ignore'

/** Signals a command and the processes that it has started. */
const signalGroup = (child: Bun.Subprocess, signal: NodeJS.Signals): void => {
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal) // Windows has no groups; elsewhere, nothing of the group is left
  }
}
