import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { MEMORY, POSTGRES, Postgres } from '../postgres.ts'
import { type Running, run, temporaryFolder } from '../program.ts'
import { Connection } from '../rigs/connection.ts'
import { Dice } from '../rigs/dice.ts'
import { LiveFolder } from '../rigs/live-folder.ts'
import { logIn, serve } from '../rigs/server.ts'
import { type Acknowledged, anyWrite, askFor, faultIn, recall, type Write } from '../rigs/writes.ts'
import { documentText } from './documents.ts'

/** The proxy of docs/operate/compose-postgres.yaml in front of two servers of one installation (contract C18). */

const HAPROXY = Bun.which('haproxy') ?? undefined
const CODES = 20_000
const ROUNDS = 5
const WRITERS = 4
/** The number of writes that are acknowledged between two events. */
const PACE = 40

/** The proxy's configuration, with servers on this machine. */
const configurationOf = (port: number, servers: readonly number[]): string => {
  const { configs } = Bun.YAML.parse(documentText('docs/operate/compose-postgres.yaml')) as {
    configs: { haproxy: { content: string } }
  }
  const { content } = configs.haproxy
  expect(content).toContain('bind :8080')
  return content
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('scrip-a:4747', `127.0.0.1:${servers[0]}`)
    .replace('scrip-b:4747', `127.0.0.1:${servers[1]}`)
}

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
    writeFileSync(file, configurationOf(proxyPort, ports))
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

  /** Clients that write with a key, and read, while something happens. They repeat failed requests. */
  const storm = async (seed: number, happen: (pause: () => Promise<void>) => Promise<void>) => {
    const token = await logIn(proxyPort, live.payer.username, live.payer.password)
    const dice = new Dice(seed)
    const acknowledged: Acknowledged[] = []
    const failures: string[] = []
    let count = 0
    let isOver = false
    const send = async (write: Write): Promise<boolean> => {
      const { path, headers, body } = askFor(write, token)
      try {
        const response = await fetch(`http://127.0.0.1:${proxyPort}${path}`, { method: 'POST', headers, body })
        const { status } = response
        const text = await response.text()
        const fault = faultIn(write, { status, head: '', body: Buffer.from(text) })
        if (fault !== undefined) failures.push(fault)
        else if (!text.includes(write.name)) failures.push(`${write.name} has the response of another: ${text}`)
        if (fault === undefined) acknowledged.push({ ...write, status, body: text })
        return fault === undefined
      } catch (error) {
        failures.push(`${write.kind} ${write.name}: ${error}`)
        return false
      }
    }
    const work = async (): Promise<void> => {
      while (!isOver) {
        const write = { ...anyWrite(dice, `s${seed}n${++count}`), isKeyed: true }
        while (!(await send(write)) && !isOver) await Bun.sleep(20)
        const { status } = await fetch(`http://127.0.0.1:${proxyPort}/api/v1/wallets`, {
          headers: { Authorization: `Bearer ${token}` },
        }).catch((error: unknown) => ({ status: String(error) }))
        if (status !== 200) failures.push(`a read: ${status}`)
      }
    }
    const writers = Array.from({ length: WRITERS }, work)
    await happen(async () => {
      for (const end = acknowledged.length + PACE; acknowledged.length < end; ) await Bun.sleep(20)
    })
    isOver = true
    await Promise.all(writers)
    const connection = await Connection.open(proxyPort)
    const lost: string[] = []
    for (const write of acknowledged)
      lost.push(...([await recall(connection, token, write)].filter(Boolean) as string[]))
    connection.close()
    return { failures, lost, acknowledged }
  }

  test('hand over without a failed request', async () => {
    const { failures, lost } = await storm(1, async (pause) => {
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
