import type { Server } from 'bun'
import { createApp } from '../app.ts'
import { assemble } from '../assemble.ts'
import { CatalogFault } from '../catalog/document.ts'
import { RatesFault } from '../charges/rates.ts'
import { type Config, urlOf, wantsColor } from '../config.ts'
import { SECOND_MS, systemClock } from '../kernel/clock.ts'
import { createLog, type Log } from '../log.ts'
import type { DueWork } from '../worlds/due.ts'
import type { Worlds } from '../worlds/worlds.ts'
import { EXIT, ProgramError } from './exit.ts'

/** Bun's own limit answers in a foreign shape; ours is kept where bodies are read. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER

/** A server that answers requests. */
export interface RunningServer extends Pick<ReturnType<typeof createApp>, 'sandbox' | 'logIn'> {
  /** The address that is bound. */
  url: string
  /** Takes in no more, gives what is in flight so many milliseconds to finish, and closes the data. */
  stop: (drainMsMax: number) => Promise<void>
}

/** The log of a command: to standard error, so that standard output holds what was asked for. */
export const logOf = ({ logLevel, logFormat }: Config): Log =>
  createLog({
    level: logLevel,
    format: logFormat,
    color: wantsColor(process.stderr.isTTY),
    clock: systemClock,
    write: (line) => process.stderr.write(line),
  })

/**
 * Opens, migrates, seeds and binds (contract C1).
 *
 * @throws ProgramError when data or address cannot be used
 */
export const startServer = (config: Config, log: Log): RunningServer => {
  const platform = openPlatform(config, log)
  let stopping = false
  const unready = () => new Response(null, { status: 503 })
  let answer: (request: Request, server: Server<unknown>) => Response | Promise<Response> = unready
  const server = bind(config, (request, from) => answer(request, from))
  const url = urlOf(config.host, server.port ?? config.port)
  const { app, due, sandbox, logIn } = createApp(
    platform.deps({
      publicUrl: config.publicUrl ?? url,
      addressOf: (request) => server.requestIP(request)?.address ?? '',
      isReady: () => !stopping,
    }),
  )
  answer = app.fetch
  const timekeeper = keepTime(due, platform.worlds, log)
  return {
    url,
    sandbox,
    logIn,
    stop: async (drainMsMax) => {
      stopping = true
      clearInterval(timekeeper)
      await Promise.race([server.stop(), Bun.sleep(drainMsMax)])
      await server.stop(true)
      platform.close()
    },
  }
}

const openPlatform = (config: Config, log: Log) => {
  try {
    return assemble(config, systemClock, log)
  } catch (error) {
    const where =
      error instanceof CatalogFault
        ? config.catalogFile
        : error instanceof RatesFault
          ? config.ratesFile
          : namesItsPath(error)
            ? undefined
            : config.dataDir
    const what = error instanceof Error ? error.message : String(error)
    throw new ProgramError(EXIT.data, where === undefined ? what : `${where}: ${what}`)
  }
}

/** What the file system says tells the path already. */
const namesItsPath = (error: unknown): boolean => error instanceof Error && 'path' in error

const bind = (
  config: Config,
  fetch: (request: Request, server: Server<unknown>) => Response | Promise<Response>,
): Server<unknown> => {
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      maxRequestBodySize: BODY_BYTES_UNLIMITED,
      idleTimeout: 60,
      fetch,
    })
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    throw new ProgramError(EXIT.address, `cannot bind ${config.host}:${config.port}: ${what}`)
  }
}

/**
 * Requests wait for what is due; where none comes, this looks, by comparing two numbers. A failure is told and tried
 * again: the work stays due.
 */
const keepTime = (due: DueWork, worlds: Worlds, log: Log) =>
  setInterval(() => {
    const world = worlds.default
    if (!due.isDue(world)) return
    due.catchUp(world).catch((error: unknown) => log.error('due work failed', { cause: String(error) }))
  }, SECOND_MS)
