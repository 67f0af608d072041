import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { MEMORY, POSTGRES, Postgres } from '../postgres.ts'
import { type Running, run, temporaryFolder } from '../program.ts'
import { keyedStorm } from '../rigs/keyed-storm.ts'
import { LiveFolder } from '../rigs/live-folder.ts'
import { haproxyPair } from '../rigs/proxies.ts'
import { serve } from '../rigs/server.ts'
import { documentText } from './documents.ts'

/** The proxy of docs/operate/compose-postgres.yaml in front of two servers of one installation (contract C18). */

const HAPROXY = Bun.which('haproxy') ?? undefined
const CODES = 20_000
const ROUNDS = 5

describe.skipIf(POSTGRES === undefined || HAPROXY === undefined)('two servers behind HAProxy', () => {
  const folder = temporaryFolder(MEMORY)
  const servers: (Running | undefined)[] = []
  let postgres: Postgres
  let live: LiveFolder
  let env: Record<string, string>
  let ports: number[]
  let proxyPort: number
  let proxy: Bun.Subprocess
  const dataDirOf = (index: number): string => (index === 0 ? live.dataDir : join(folder.path, `copy-${index}`))

  const serveAt = async (index: number): Promise<void> => {
    const flags = ['--mode', 'live', '--rate-limit', 'off', '--data-dir', dataDirOf(index)]
    servers[index] = await serve([...flags, '--port', String(ports[index])], { env })
  }
  const statusOf = async (port: number | undefined): Promise<number | undefined> =>
    (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status
  const untilActive = async (): Promise<number> => {
    for (;;) {
      for (const [index, port] of ports.entries()) if ((await statusOf(port)) === 200) return index
      await Bun.sleep(20)
    }
  }

  beforeAll(async () => {
    postgres = await Postgres.start([], MEMORY)
    live = await LiveFolder.make(join(folder.path, 'live'), CODES)
    env = {
      SCRIP_VOUCHER_KEY: readFileSync(join(live.dataDir, 'voucher.key'), 'utf8').trim(),
      SCRIP_SIGNING_KEY: '22'.repeat(32),
      SCRIP_POSTGRES: await postgres.create('proxied'),
    }
    const { exitCode, stderr } = await run(['postgres', 'init', '--data-dir', live.dataDir], { env })
    expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' })
    ports = [await freePort(), await freePort()]
    proxyPort = await freePort()
    for (const index of ports.keys()) await serveAt(index)
    const file = join(folder.path, 'haproxy.cfg')
    const configuration = haproxyPair(documentText('docs/operate/compose-postgres.yaml'))
    writeFileSync(
      file,
      configuration
        .replace('8080', String(proxyPort))
        .replace('4747', String(ports[0]))
        .replace('4748', String(ports[1])),
    )
    const started = Bun.spawn([String(HAPROXY), '-f', file], { stdout: 'pipe', stderr: 'ignore' })
    proxy = started
    // Until its first checks, it takes all servers for ready.
    let log = ''
    for await (const chunk of started.stdout) {
      log += new TextDecoder().decode(chunk)
      if (log.includes(' is DOWN')) break
    }
  })
  afterAll(async () => {
    proxy?.kill()
    for (const server of servers) if (server?.hasEnded() === false) await server.kill()
    await postgres?.[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  test('hand over without a failed request', async () => {
    const { failures, lost } = await keyedStorm(proxyPort, live.payer, 's1', async (pause) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await pause()
        const active = await untilActive()
        expect((await servers[active]?.stop())?.exitCode).toBe(0)
        await pause()
        await serveAt(active)
      }
    })
    expect(failures).toEqual([])
    expect(lost).toEqual([])
  })
})
