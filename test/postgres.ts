import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** PostgreSQL for tests: a server of its own in a temporary folder, as a user that is not root. */

const PLACES = '/usr/lib/postgresql'
const VERSION_MIN = 15

const binaries = (): string | undefined => {
  if (!existsSync(PLACES)) return undefined
  const versions = readdirSync(PLACES)
    .map(Number)
    .filter((version) => version >= VERSION_MIN)
  const newest = Math.max(...versions)
  return versions.length === 0 ? undefined : join(PLACES, String(newest), 'bin')
}

/** A folder in memory, for tests in which a lease must not expire while others use the disk. */
export const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export const POSTGRES = binaries()
if (POSTGRES === undefined && process.env.TEST_ALL === '1')
  throw new Error('no PostgreSQL: install the package postgresql')

/** PostgreSQL does not run as root. */
const AS_USER = process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : []

/** Runs a program of PostgreSQL with these arguments, which may contain spaces. */
const succeed = async (words: string, ...texts: string[]): Promise<string> => {
  const command = [...`${POSTGRES}/${words}`.split(' '), ...texts]
  const child = Bun.spawn([...AS_USER, ...command], { stdout: 'pipe', stderr: 'pipe', cwd: '/' })
  const [exitCode, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${exitCode} ${stdout}${stderr}`)
  return stdout
}

export class Postgres implements AsyncDisposable {
  private constructor(
    readonly folder: string,
    readonly port: number,
    private readonly settings: readonly string[],
  ) {}

  static async start(settings: readonly string[] = [], place = tmpdir()): Promise<Postgres> {
    const folder = mkdtempSync(join(place, 'scrip-postgres-'))
    if (AS_USER.length > 0) await Bun.$`chown postgres ${folder}`.quiet()
    const postgres = new Postgres(folder, await freePort(), settings)
    await succeed(`initdb -D ${postgres.data} -A trust -U scrip -E UTF8 --no-locale --no-sync`)
    await postgres.start()
    return postgres
  }

  /** A synchronous standby: it has every commit before it is acknowledged. */
  async standby(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'scrip-postgres-'))
    if (AS_USER.length > 0) await Bun.$`chown postgres ${folder}`.quiet()
    const standby = new Postgres(folder, await freePort(), this.settings)
    const source = `host=127.0.0.1 port=${this.port} user=scrip application_name=standby`
    await succeed(`pg_basebackup -D ${standby.data} -R -X stream -c fast --no-sync`, '-d', source)
    await standby.start()
    await this.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    await this.sql('SELECT pg_reload_conf()')
    return standby
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  url(database: string, port = this.port): string {
    return `postgres://scrip@127.0.0.1:${port}/${database}`
  }

  async create(database: string): Promise<string> {
    await this.sql(`CREATE DATABASE ${database}`, 'postgres')
    return this.url(database)
  }

  /** The rows as text, a line each. */
  async sql(text: string, database = 'postgres'): Promise<string[]> {
    const words = `psql -X -q -At -v ON_ERROR_STOP=1 -h 127.0.0.1 -p ${this.port} -U scrip`
    const output = await succeed(words, '-c', text, database)
    return output.split('\n').filter((line) => line !== '')
  }

  async start(): Promise<void> {
    const options = [`-p ${this.port}`, `-k ${this.folder}`, ...this.settings.map((setting) => `-c ${setting}`)].join(
      ' ',
    )
    await succeed(`pg_ctl -D ${this.data} -l ${join(this.folder, 'log')} -w -s start`, '-o', options)
  }

  /** As after a power failure that leaves the disk intact. */
  async kill(): Promise<void> {
    for (const one of await this.signal('KILL')) while (existsSync(`/proc/${one}`)) await Bun.sleep(5)
  }

  /** Sends a signal to all processes, and returns them. */
  async signal(name: 'KILL' | 'STOP' | 'CONT'): Promise<string[]> {
    const [pid = ''] = readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')
    const children = (await Bun.$`pgrep -P ${pid}`.nothrow().quiet().text()).split('\n').filter((line) => line !== '')
    for (const one of [pid, ...children]) await Bun.$`kill -${name} ${one}`.nothrow().quiet()
    return [pid, ...children]
  }

  async promote(): Promise<void> {
    await succeed(`pg_ctl -D ${this.data} -w -s promote`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await succeed(`pg_ctl -D ${this.data} -m immediate -s stop`).catch(() => undefined)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

type Direction = 'requests' | 'responses'

const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/** To a tenth of a millisecond: timers count whole ones. The rest is slept, because a network takes no processor time. */
const after = (delayMs: number, work: () => void): void => {
  const atMs = performance.now() + delayMs
  setTimeout(() => {
    Atomics.wait(never, 0, 0, Math.max(0, atMs - performance.now()))
    work()
  }, delayMs - 1)
}

/** A network that can be slow or cut. Data on its way during a cut arrives after it. */
export class Network implements Disposable {
  readonly #server = createServer((client) => this.#join(client))
  readonly #pairs = new Set<{ client: Socket; server: Socket }>()
  #cut: readonly Direction[] = []
  delayMs = 0
  port = 0
  target: number

  private constructor(target: number) {
    this.target = target
  }

  static async to(target: number): Promise<Network> {
    const network = new Network(target)
    network.port = await freePort()
    await new Promise<void>((resolve) => network.#server.listen(network.port, '127.0.0.1', resolve))
    return network
  }

  cut(...directions: Direction[]): void {
    this.#cut = directions
    for (const pair of this.#pairs) this.#apply(pair)
  }

  /** Ends all connections, as a firewall that forgets them. */
  reset(): void {
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.destroy()
  }

  #apply({ client, server }: { client: Socket; server: Socket }): void {
    for (const [socket, direction] of [
      [client, 'requests'],
      [server, 'responses'],
    ] as const) {
      if (this.#cut.includes(direction)) socket.pause()
      else socket.resume()
    }
  }

  #join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1')
    const pair = { client, server }
    this.#pairs.add(pair)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true)
      from.on('data', (bytes: Buffer) => {
        if (this.delayMs === 0) to.write(bytes)
        else after(this.delayMs, () => to.write(bytes))
      })
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        this.#pairs.delete(pair)
      })
    }
    this.#apply(pair)
  }

  [Symbol.dispose](): void {
    this.reset()
    this.#server.close()
  }
}
