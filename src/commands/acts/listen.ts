import { rmSync } from 'node:fs'
import { Value } from '@sinclair/typebox/value'
import { ActRequest, type Acts, type Performer } from '../../acts/act.ts'
import { OutcomeUnknown } from '../../db/shared-commit.ts'
import { giveToOwner, makePrivate, makePrivateFolder } from '../../folder/files.ts'
import { DataFault, EXIT, ProgramError, refused } from '../../kernel/exit.ts'
import { jsonIn } from '../../kernel/json.ts'
import type { Log } from '../../observability/log.ts'
import { VERSION } from '../../start/version.ts'
import { explainFaults } from '../advice.ts'
import { isList } from '../terminal/output.ts'
import { perform } from './perform.ts'
import { type ActMessage, isSocketThere, isTooLong, linesOf, messageText, runFolder, socketPath } from './wire.ts'

interface Listening {
  dataDir: string
  log: Log
  /** Loaded with the first act. */
  acts: () => Promise<Acts>
  /** @throws ProgramError while another server is active */
  performer: () => Promise<Performer>
}

export interface ActsServer {
  /** Gives the acts under way some milliseconds. */
  stop: (drainMsMax: number) => Promise<void>
}

/**
 * Performs the acts that commands request at a socket below the data folder, which its owner and root alone can reach (contract
 * C20). Undefined if the system allows no socket there. @throws ProgramError if somebody else has made one
 */
export const listenForActs = (listening: Listening): ActsServer | undefined => {
  const { dataDir, log } = listening
  const path = socketPath(dataDir)
  try {
    makePrivateFolder(runFolder(dataDir))
    if (isSocketThere(dataDir)) rmSync(path) // left by a server that was killed: this one has the folder
    if (isTooLong(path)) throw new Error('its path is longer than the system allows')
    return serveAt(path, listening)
  } catch (error) {
    if (error instanceof DataFault) throw error
    const cause = error instanceof Error ? error.message : String(error)
    log.warn('commands that write cannot reach this server: stop it before you run one', { socket: path, cause })
    return undefined
  }
}

/** A response stays open until the act is done. The runtime's types have this for ports only. */
const NEVER_IDLE: object = { idleTimeout: 0 }
const OTHERS = 0o077

const serveAt = (path: string, listening: Listening): ActsServer => {
  const underWay = new Map<string, Promise<ActMessage>>()
  /** A command that repeats its request during the act waits for the same line. */
  const outcomeOf = (request: ActRequest, input: string, send: (line: ActMessage) => void): Promise<ActMessage> => {
    const known = underWay.get(request.id)
    if (known) return known
    const outcome = performed(listening, request, input, send).finally(() => underWay.delete(request.id))
    underWay.set(request.id, outcome)
    return outcome
  }
  const umask = process.umask(OTHERS)
  const server = Bun.serve({
    unix: path,
    ...NEVER_IDLE,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    fetch: async (http) => {
      const body = await http.text()
      const end = body.indexOf('\n')
      const request = actRequestIn(body.slice(0, end))
      if (!request) return new Response(messageText(NO_ACT))
      return new Response(
        linesOf(messageText, async (send) => send(await outcomeOf(request, body.slice(end + 1), send))),
      )
    },
  })
  process.umask(umask)
  makePrivate(path)
  giveToOwner(path)
  return {
    stop: async (drainMsMax) => {
      await Promise.race([Promise.allSettled(underWay.values()), Bun.sleep(drainMsMax)])
      await server.stop(true)
      rmSync(path, { force: true })
    },
  }
}

const NO_ACT: ActMessage = { refusal: 'this socket is only for scrip commands', exitCode: EXIT.usage }

/** Undefined for anything but an act. */
const actRequestIn = (line: string): ActRequest | undefined => {
  const request = jsonIn(line)
  return Value.Check(ActRequest, request) ? request : undefined
}

const performed = async (
  { dataDir, log, acts, performer }: Listening,
  request: ActRequest,
  input: string,
  send: (line: ActMessage) => void,
): Promise<ActMessage> => {
  const asking = {
    input,
    note: (note: string) => send({ note }),
    onProgress: (...progress: [string, number, number]) => send({ progress }),
  }
  try {
    const act = request.refusal === undefined ? actOf(await acts(), request) : undefined
    if (!act && request.refusal === undefined) throw refused(unknownAct(request))
    const result = await explainFaults(dataDir, async () => perform(await performer(), act, request, asking))
    return { result: isList(result) ? { ...result, rows: [...result.rows] } : result }
  } catch (error) {
    if (error instanceof OutcomeUnknown) return { isUnknown: true }
    if (error instanceof ProgramError) return { refusal: error.message, exitCode: error.exitCode }
    log.error('an act failed', {
      command: request.command,
      cause: error instanceof Error ? error.stack : String(error),
    })
    return { refusal: error instanceof Error ? error.message : String(error), exitCode: EXIT.failed }
  }
}

/** Undefined also for a name that every object has. */
const actOf = (acts: Acts, { command }: ActRequest) => (Object.hasOwn(acts, command) ? acts[command] : undefined)

const unknownAct = ({ command }: ActRequest): string =>
  `the server does not know scrip ${command}: it is of release ${VERSION}, and nothing was done\nRestart it with this release, or run the command of its release.`
