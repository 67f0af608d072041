import { renameSync, writeFileSync } from 'node:fs'
import type { Server } from 'bun'
import { createApp } from '../app.ts'
import { assemble, VERSION } from '../assemble.ts'
import { CatalogFault } from '../catalog/document.ts'
import { RatesFault } from '../charges/rates.ts'
import { type Config, urlOf, wantsColor } from '../config.ts'
import { SECOND_MS, sinceStartMs, systemClock } from '../kernel/clock.ts'
import { createLog, type Log } from '../log.ts'
import type { DueWork } from '../worlds/due.ts'
import type { Worlds } from '../worlds/worlds.ts'
import { EXIT, ProgramError } from './exit.ts'

/** How long requests in flight may take once the program was told to stop. */
const DRAIN_MS_MAX = 10 * SECOND_MS
/** Bun's own limit answers in a foreign shape; ours is kept where bodies are read. */
const BODY_BYTES_UNLIMITED = Number.MAX_SAFE_INTEGER

/** `scrip serve`: open, migrate, seed, bind, say so, and answer until told to stop (contract C1). */
export const serve = async (config: Config): Promise<void> => {
  const log = createLog({
    level: config.logLevel,
    format: config.logFormat,
    color: wantsColor(process.stderr.isTTY),
    clock: systemClock,
    write: (line) => process.stderr.write(line),
  })
  const platform = openPlatform(config, log)
  let stopping = false
  const unready = () => new Response(null, { status: 503 })
  let answer: (request: Request, server: Server<unknown>) => Response | Promise<Response> = unready
  const server = bind(config, (request, from) => answer(request, from))
  const url = urlOf(config.host, server.port ?? config.port)
  const { app, due } = createApp(
    platform.deps({
      publicUrl: config.publicUrl ?? url,
      addressOf: (request) => server.requestIP(request)?.address ?? '',
      isReady: () => !stopping,
    }),
  )
  answer = app.fetch

  const toldToStop = told() // listens before anyone learns that there is something to stop
  try {
    announce(config, url)
  } catch (error) {
    await server.stop(true)
    throw error
  }
  log.info('listening', { url, mode: config.mode, data: config.dataDir ?? 'in memory' })
  const timekeeper = keepTime(due, platform.worlds, log)
  await toldToStop
  stopping = true
  clearInterval(timekeeper)
  log.info('stopping')
  await drained(server)
  platform.close()
  process.exit(EXIT.done)
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

/** The ready contract: one line on standard output, and a file that appears whole. */
const announce = (config: Config, url: string): void => {
  if (config.readyFile !== undefined) {
    const draft = `${config.readyFile}.${process.pid}`
    writeFileSync(draft, `${url}\n`)
    renameSync(draft, config.readyFile)
  }
  const startupMs = Math.round(sinceStartMs())
  process.stdout.write(
    `ready url=${url} mode=${config.mode} version=${VERSION} pid=${process.pid} startup_ms=${startupMs}\n`,
  )
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the program at once. */
const told = (): Promise<void> =>
  new Promise((resolve) => {
    let count = 0
    const hear = () => {
      count += 1
      if (count === 1) resolve()
      else process.exit(EXIT.failed)
    }
    process.on('SIGTERM', hear)
    process.on('SIGINT', hear)
  })

const drained = async (server: Server<unknown>): Promise<void> => {
  await Promise.race([server.stop(), Bun.sleep(DRAIN_MS_MAX)])
  await server.stop(true)
}
