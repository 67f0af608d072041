import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { certificateIn } from '../certificate.ts'
import { Network, Postgres } from '../postgres.ts'
import { type Ended, type Running, run } from '../program.ts'
import { openReceiver, type Receiver } from '../webhooks/webhooks.ts'
import { LiveFolder } from './live-folder.ts'
import { serve } from './server.ts'

/** Two servers of one installation, each behind its own network, and a receiver of their webhooks. */

/** The maximum time for which a fault may keep everybody waiting. */
export const PATIENCE_MS = 20_000
const LOOK_MS = 20
const DATABASE = 'rig'
/** More codes than a round sells. */
const CODES_PER_ROUND = 3_000
const FLAGS = ['--mode', 'live', '--rate-limit', 'off', '--webhook-allow', '127.0.0.0/8']

export interface Member {
  dataDir: string
  network: Network
  server: Running | undefined
}

export class Pair {
  readonly members: Member[]

  private constructor(
    public postgres: Postgres,
    readonly live: LiveFolder,
    readonly receiver: Receiver,
    private readonly certificate: string,
    networks: readonly Network[],
    folder: string,
    private readonly ports: readonly number[],
  ) {
    this.members = networks.map((network, index) => ({
      dataDir: index === 0 ? live.dataDir : join(folder, `copy-${index}`),
      network,
      server: undefined,
    }))
  }

  /** Two servers on free ports, or on these. */
  static async start(folder: string, rounds: number, ports: readonly number[] = []): Promise<Pair> {
    const postgres = await Postgres.start()
    await postgres.create(DATABASE)
    const live = await LiveFolder.make(join(folder, 'live'), rounds * CODES_PER_ROUND)
    const networks = [await Network.to(postgres.port), await Network.to(postgres.port)]
    const { path, tls } = certificateIn(folder)
    const pair = new Pair(postgres, live, openReceiver(undefined, tls), path, networks, folder, ports)
    const { exitCode, stderr } = await pair.command(0, 'postgres', 'init')
    if (exitCode !== 0) throw new Error(`scrip postgres init: ${exitCode} ${stderr}`)
    for (const index of networks.keys()) await pair.serve(index)
    return pair
  }

  #env(index: number): Record<string, string> {
    return {
      SCRIP_VOUCHER_KEY: readFileSync(join(this.live.dataDir, 'voucher.key'), 'utf8').trim(),
      SCRIP_SIGNING_KEY: '22'.repeat(32),
      SCRIP_POSTGRES: this.postgres.url(DATABASE, this.members[index]?.network.port),
      NODE_EXTRA_CA_CERTS: this.certificate,
    }
  }

  async serve(index: number): Promise<void> {
    const member = this.members[index]
    const flags = [...FLAGS, '--port', String(this.ports[index] ?? 0)]
    if (member) member.server = await serve([...flags, '--data-dir', member.dataDir], { env: this.#env(index) })
  }

  /** A command beside a server. */
  command(index: number, ...words: string[]): Promise<Ended> {
    return run([...words, '--data-dir', this.members[index]?.dataDir ?? ''], { env: this.#env(index) })
  }

  readonly sql = (text: string): Promise<string[]> => this.postgres.sql(text, DATABASE)

  get logs(): string {
    return this.members.map(({ server }) => server?.log()).join('\n')
  }

  /** The server that is ready; waits until one is. */
  async ready(): Promise<number> {
    const endMs = performance.now() + PATIENCE_MS
    while (performance.now() < endMs) {
      for (const [index, { server }] of this.members.entries()) {
        const response = fetch(`http://127.0.0.1:${server?.port}/readyz`, { signal: AbortSignal.timeout(500) })
        if ((await response.catch(() => undefined))?.status === 200) return index
      }
      await Bun.sleep(LOOK_MS)
    }
    throw new Error(`no server is ready: ${this.logs}`)
  }

  /** Kills the primary once a standby has every acknowledged commit, and promotes the standby. Resolves at the promotion. */
  async promote(storm: () => Promise<void>): Promise<void> {
    const primary = this.postgres
    const standby = await this.#withStandby()
    await storm()
    await primary.kill()
    await standby.promote()
    this.postgres = standby
    for (const { network } of this.members) {
      network.target = standby.port
      network.reset()
    }
    await primary[Symbol.asyncDispose]()
  }

  /** Stops a standby that every commit waits for. */
  async stall(forMs: number, storm: () => Promise<void>): Promise<void> {
    await using standby = await this.#withStandby()
    await storm()
    await standby.signal('STOP')
    await Bun.sleep(forMs)
    await standby.signal('CONT')
    await storm()
    await this.postgres.sql('ALTER SYSTEM RESET synchronous_standby_names')
    await this.postgres.sql('SELECT pg_reload_conf()')
  }

  async #withStandby(): Promise<Postgres> {
    const standby = await this.postgres.standby()
    while (!(await this.postgres.sql('SELECT sync_state FROM pg_stat_replication')).includes('sync'))
      await Bun.sleep(LOOK_MS)
    return standby
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { server, network } of this.members) {
      if (server && !server.hasEnded()) await server.kill()
      network[Symbol.dispose]()
    }
    await this.receiver.stop()
    await this.postgres[Symbol.asyncDispose]()
  }
}
