import { existsSync, statSync } from 'node:fs'
import { type Config, urlOf } from '../../../config/config.ts'
import { lockForTakeOver } from '../../../db/folder-lock.ts'
import { SECOND_MS } from '../../../kernel/clock.ts'
import type { Log } from '../../../observability/log.ts'
import { EXIT, ProgramError, refused, unusable } from '../../exit.ts'
import { bind } from '../bind.ts'
import { controlSocket, forwardSocket, type Legacy, type Predecessor, type ServerFacts } from './protocol.ts'
import { startOnCopy } from './trial-start.ts'

/** What a server does before it takes over (decision 76). */

/** A server that was taken over from lives on for 10 seconds. */
const LAST_ONE_MS_MAX = 12 * SECOND_MS
const RESPONSE_MS_MAX = 5 * SECOND_MS

/**
 * The running server, after checking that this one can start. Undefined if none runs.
 * @throws ProgramError when this server cannot start, and DataFault when another one takes over: the running one goes on
 */
export const findPredecessor = async (config: Config, log: Log): Promise<Predecessor | undefined> => {
  const { dataDir = '' } = config
  const socket = controlSocket(dataDir)
  const facts = await findServer(socket)
  if (!facts) return undefined
  requireSameAddress(config, facts)
  const lock = lockForTakeOver(dataDir, LAST_ONE_MS_MAX)
  await startOnCopy(config, dataDir, log)
  requireMetricsAddress(config)
  log.info('taking over', { from: facts.pid, version: facts.version })
  const forwarded = forwardSocket(dataDir)
  return {
    port: facts.port,
    forwardSocket: forwarded,
    letGo: async () => {
      const given = await handOver(socket)
      const release = (): void => lock[Symbol.dispose]()
      // Until it ends: two sockets can share a port in an orderly way, not three.
      if (given) given.ended.then(release, release)
      else release()
      return given?.legacy
    },
    tellServed: async () => {
      await ask(socket, 'POST', '/served', forwarded).catch(() => log.warn('the server before has ended by itself'))
    },
  }
}

const ask = (unix: string, method: string, path: string, body?: string): Promise<Response> =>
  fetch(`http://scrip${path}`, { unix, method, ...(body !== undefined && { body }), timeout: false })

/** Undefined if no server runs. @throws ProgramError if it belongs to another user, or does not respond */
const findServer = async (socket: string): Promise<ServerFacts | undefined> => {
  if (!existsSync(socket)) return undefined
  if (statSync(socket).uid !== process.getuid?.()) {
    throw unusable(`${socket}: the server of another user works on this folder\nRun the command as that user.`)
  }
  try {
    const signal = AbortSignal.timeout(RESPONSE_MS_MAX)
    return (await (await fetch('http://scrip/server', { unix: socket, signal })).json()) as ServerFacts
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      throw refused(`${socket}: the running server does not respond\nStop it, and start this one without --take-over.`)
    }
    return undefined // a process that was killed leaves its socket
  }
}

/** Clients would not find this server at another address. @throws ProgramError */
const requireSameAddress = ({ host, port }: Config, facts: ServerFacts): void => {
  if (host === facts.host && (port === 0 || port === facts.port)) return
  throw new ProgramError(
    EXIT.address,
    `the running server listens at ${urlOf(facts.host, facts.port)}\nTake over with the same --host and --port, or stop it first.`,
  )
}

/** Once the folder is migrated, it is too late for an address that is taken. @throws ProgramError */
const requireMetricsAddress = ({ metrics }: Config): void => {
  if (!metrics) return
  const unavailable = () => new Response(null, { status: 503 })
  void bind({ ...metrics, respond: unavailable, onEscape: unavailable, sharing: 'second' }).stop(0)
}

/** As `letGo` of {@link Predecessor}, with the end of the server. */
const handOver = async (socket: string): Promise<{ legacy: Legacy; ended: Promise<unknown> } | undefined> => {
  const response = await ask(socket, 'POST', '/hand-over').catch(() => undefined)
  if (response && !response.ok) throw refused('the running server does not hand over\nIts log says why.')
  const reader = response?.body?.pipeThrough(new TextDecoderStream()).getReader()
  let line = ''
  while (reader && !line.endsWith('\n')) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
    if (done) return undefined
    line += value
  }
  if (!reader) return undefined
  return { legacy: JSON.parse(line) as Legacy, ended: reader.read() }
}
