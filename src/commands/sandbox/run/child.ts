import { EXIT, ProgramError } from '../../../kernel/exit.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Signals that would end this program and leave the command behind. */
const PASSED_ON = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'] as const

const running = new Set<Bun.Subprocess>()

/** Passes signals on to the commands that run. Afterwards they do not end this program, which has files to finish. */
export const passSignalsOn = (): void => {
  for (const signal of PASSED_ON) {
    process.on(signal, () => {
      for (const child of running) child.kill(signal)
    })
  }
}

/** Runs a command. Returns its exit code as a shell would. @throws ProgramError when it cannot be started */
export const exitCodeOf = async (command: readonly string[], env: Environment): Promise<number> => {
  const child = spawn(command, { env, stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' })
  running.add(child)
  try {
    return await child.exited // 128 and the number of the signal, when it died by one
  } finally {
    running.delete(child)
  }
}

type Streams = 'inherit' | 'ignore'

/** @throws ProgramError when it cannot be started */
export const spawn = (
  command: readonly string[],
  options: Bun.SpawnOptions.OptionsObject<Streams, Streams, Streams>,
): Bun.Subprocess => {
  try {
    return Bun.spawn([...command], options)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const exitCode = code === 'ENOENT' ? EXIT.commandNotFound : EXIT.commandNotExecutable
    throw new ProgramError(exitCode, `cannot run ${command[0]}: ${message}`)
  }
}
