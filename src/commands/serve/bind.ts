import { type Listening, type ListenOptions, listen } from '../../http/listen.ts'
import { EXIT, ProgramError } from '../../kernel/exit.ts'

/** @throws ProgramError when the address cannot be bound */
export const bind = (options: ListenOptions): Listening => {
  const { host, port } = options
  try {
    return listen(options)
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    throw new ProgramError(
      EXIT.address,
      isTaken
        ? `cannot bind ${host}:${port}, because another program uses the port\nStop it, or choose another port; 0 takes a free one.`
        : `cannot bind ${host}:${port}: ${what}\nChoose another --host or --port.`,
    )
  }
}
