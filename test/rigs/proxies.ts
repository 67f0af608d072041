import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { POSTGRES } from '../postgres.ts'
import { type Running, temporaryFolder } from '../program.ts'
import { Broken, bytesOf, Connection, type RawResponse } from './connection.ts'
import { keyedStorm } from './keyed-storm.ts'
import { Pair } from './postgres-pair.ts'
import type { Report, Rig } from './report.ts'
import { logIn, serve } from './server.ts'

/**
 * Puts each proxy of docs/operate/proxies before a server, with its own file, and asks through it: responses that are lost, a restart under
 * load, what a cache keeps, the feed, `Expect`, a path in the public address, and the address of the client. A proxy that is not
 * installed is left out. The whole run writes what it saw for docs/operate/behind-a-proxy.md.
 */

const FOLDER = join(import.meta.dir, '../../docs/operate/proxies')
const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')
export const SEEN_PATH = join(FOLDER, 'seen.json')

interface Proxy {
  name: string
  file: string
  program: string
  /** The version, as it prints it. */
  version: readonly string[]
  command: (file: string, folder: string, port: number) => string[]
  /** The file with a place below which Scrip is served. */
  below: (text: string, path: string) => string
  /** The file for two servers; undefined if the proxy cannot follow /readyz, so that its operator changes the server in its file. */
  pair?: () => string
  /** Lines that a run beside an installed one needs. */
  more?: (folder: string) => string
  /** Requests that the file cannot keep from being sent again: every other one is a finding. */
  repeats: readonly string[]
}

/** The file of a proxy with its block of the guide's section about several servers in the place of the line for one. */
const fenceOf = (language: string): string => {
  const page = readFileSync(join(FOLDER, '../behind-a-proxy.md'), 'utf8')
  const block = new RegExp(`\`\`\`${language} \\S+\\n([^\`]*)\`\`\``).exec(page)?.[1]
  if (block === undefined) throw new Error(`behind-a-proxy.md has no block of ${language}`)
  return block
}

/** HAProxy before two servers, as docs/operate/compose-postgres.yaml has it. */
export const haproxyPair = (compose: string): string => {
  const { configs } = Bun.YAML.parse(compose) as { configs: { haproxy: { content: string } } }
  return configs.haproxy.content
    .replace('bind :8080', 'bind 127.0.0.1:8080')
    .replace('scrip-a:4747', '127.0.0.1:4747')
    .replace('scrip-b:4747', '127.0.0.1:4748')
}

const APACHE_MODULES = [
  ...['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'proxy_balancer', 'proxy_hcheck', 'slotmem_shm'],
  ...['lbmethod_byrequests'],
]

const PROXIES: readonly Proxy[] = [
  {
    ...{ name: 'nginx', file: 'nginx.conf', program: 'nginx', version: ['-v'], repeats: [] },
    command: (file, folder) => ['nginx', '-c', file, '-g', `daemon off; pid ${folder}/pid; error_log stderr;`],
    below: (text, path) =>
      text.replace('location / {', `location ${path}/ {`).replace('http://scrip;', 'http://scrip/;'),
  },
  {
    ...{ name: 'HAProxy', file: 'haproxy.cfg', program: 'haproxy', version: ['-v'], repeats: [] },
    command: (file) => ['haproxy', '-f', file],
    pair: () => haproxyPair(readFileSync(join(FOLDER, '../compose-postgres.yaml'), 'utf8')),
    below: (text, path) =>
      text.replace('  option forwardfor\n', `  option forwardfor\n  http-request replace-path ${path}/(.*) /\\1\n`),
  },
  {
    ...{ name: 'Caddy', file: 'rewards.caddyfile', program: 'caddy', version: ['version'] },
    repeats: ['GET', 'POST rotate, with a key'],
    command: (file) => ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
    pair: () => `{\n\tadmin off\n}\n${fenceOf('caddyfile')}`,
    below: (text, path) => text.replace('\treverse_proxy', `\turi strip_prefix ${path}\n\treverse_proxy`),
  },
  {
    ...{ name: 'Apache', file: 'apache.conf', program: 'apache2', version: ['-v'], repeats: [] },
    command: (file, folder, port) => {
      const lines = [
        `ServerRoot /etc/apache2\nPidFile ${folder}/pid\nDefaultRuntimeDir ${folder}\nErrorLog /dev/stderr\nServerName localhost`,
        `Listen 127.0.0.1:${port}\nUser www-data\nGroup www-data`,
        ...APACHE_MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
        `Include ${file}\n`,
      ]
      writeFileSync(join(folder, 'httpd.conf'), lines.join('\n'))
      return ['apache2', '-f', join(folder, 'httpd.conf'), '-DFOREGROUND']
    },
    below: (text, path) => text.replace('ProxyPass / ', `ProxyPass ${path}/ `),
    pair: () => textOf('apache.conf').replace(/ {2}ProxyPass .*\n/, fenceOf('apache')),
  },
  {
    ...{ name: 'Varnish', file: 'varnish.vcl', program: 'varnishd', version: ['-V'], repeats: ['GET'] },
    command: (file, folder, port) => [
      'varnishd',
      '-F',
      '-f',
      file,
      '-a',
      `127.0.0.1:${port}`,
      '-n',
      join(folder, 'work'),
      '-s',
      'malloc,16m',
    ],
    pair: () => textOf('varnish.vcl').replace(/backend default \{[^}]*\}\n/, fenceOf('vcl')),
    below: (text, path) =>
      text.replace('sub vcl_recv {', `sub vcl_recv {\n  set req.url = regsub(req.url, "^${path}/", "/");`),
  },
  {
    ...{ name: 'Squid', file: 'squid.conf', program: 'squid', version: ['-v'], repeats: ['GET', 'DELETE'] },
    command: (file) => ['squid', '-N', '-f', file],
    // It passes paths on as they are.
    below: (text) => text,
    more: (folder) =>
      `pid_filename none\ncache_log ${folder}/log\naccess_log none\nshutdown_lifetime 0 seconds\nvisible_hostname localhost\n`,
  },
]

/** A running proxy before one or two servers on these ports. */
const startProxy = async (
  proxy: Proxy,
  targets: readonly number[],
  port: number,
  { text = textOf(proxy.file), path = '' } = {},
) => {
  const folder = temporaryFolder()
  chmodSync(folder.path, 0o777) // some run as a user of their own
  const file = join(folder.path, proxy.file)
  const write = (text: string, servers: readonly number[]) => {
    const served = servers
      .reduce((before, server, index) => before.replaceAll(String(4747 + index), String(server)), text)
      .replaceAll('8080', String(port))
    writeFileSync(file, served + (proxy.more?.(folder.path) ?? ''), { mode: 0o644 })
  }
  write(text, targets)
  const env = { ...process.env, HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path }
  const child = Bun.spawn(proxy.command(file, folder.path, port), { env, stdout: 'ignore', stderr: 'ignore' })
  for (let tries = 0; (await statusAt(port, `${path}/status`)) !== 200; tries++) {
    if (tries > 300 || child.exitCode !== null) throw new Error(`${proxy.name} does not start with ${proxy.file}`)
    await Bun.sleep(100)
  }
  const stop = async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
    await child.exited
    clearTimeout(timer)
    folder[Symbol.dispose]()
  }
  /** Lets the proxy read its file again, with another server. */
  const follow = (server: number) => {
    write(text, [server])
    child.kill('SIGHUP')
  }
  return { port, stop, follow }
}

const statusAt = async (port: number, path: string): Promise<number | undefined> =>
  (await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(40_000) }).catch(() => undefined))
    ?.status

/** The outcome of a request whose response was lost: `1, 502`: how often it arrived, and what its client saw. */
type Lost = Record<string, string>

interface Seen {
  proxy: string
  version: string
  lost: Lost
  restart: string
  /** The longest time without an acknowledged write, and what clients saw: of a hand-over, and of an active server that is killed. */
  takeovers: Record<string, string>
  findings: string[]
}

const BODY = { product_id: 1, denomination: 100, quantity: 1 }
const PAYEE = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
const HOOK = { name: 'rig', url: 'http://127.0.0.1:9/', events: ['*'] }

class Round {
  readonly findings: string[] = []
  #worlds = 0
  constructor(
    private readonly proxy: Proxy,
    private readonly server: Running,
    private readonly port: number,
  ) {}

  find(text: string): void {
    this.findings.push(`${this.proxy.name}: ${text}`)
  }

  async #world(): Promise<{ name: string; headers: Record<string, string> }> {
    const name = `${this.proxy.name.toLowerCase()}-${++this.#worlds}`
    const token = await logIn(this.server.port, `sbx_${name}`)
    return { name, headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' } }
  }

  /** Sends requests whose responses are lost, each on a used and on a new connection to the proxy. */
  async lost(): Promise<Lost> {
    const outcomes: Lost = {}
    const key = { 'Idempotency-Key': 'rig-key-1' }
    const post = { method: 'POST', path: '/api/v1/orders', body: JSON.stringify(BODY) }
    for (const [what, ask] of [
      ['POST order', () => post],
      ['POST order, with a key', () => ({ ...post, headers: key })],
      ['DELETE', (records: Records) => ({ method: 'DELETE', path: `/api/v1/beneficiaries/${records.beneficiary}` })],
      ['POST rotate', (records: Records) => ({ method: 'POST', path: `/api/v1/webhooks/${records.webhook}/rotate` })],
      [
        'POST rotate, with a key',
        (records: Records) => ({ method: 'POST', path: `/api/v1/webhooks/${records.webhook}/rotate`, headers: key }),
      ],
      ['GET', () => ({ method: 'GET', path: '/api/v1/wallets' })],
    ] as const) {
      for (const isUsed of [true, false]) {
        const outcome = await this.#loseOne(what, ask, isUsed)
        const before = outcomes[what]
        outcomes[what] = before === undefined || before === outcome ? outcome : `${before}; new: ${outcome}`
      }
    }
    return outcomes
  }

  async #loseOne(
    what: string,
    ask: (records: Records) => Parameters<typeof bytesOf>[0],
    isUsed: boolean,
  ): Promise<string> {
    const { name, headers } = await this.#world()
    const json = async <T>(path: string, body: object): Promise<T> =>
      (await (await this.server.request(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as T
    const records: Records = {
      beneficiary: (await json<{ id: string }>('/api/v1/beneficiaries', PAYEE)).id,
      webhook: (await json<{ id: string }>('/api/v1/webhooks', HOOK)).id,
    }
    const request = ask(records)
    const connection = await Connection.open(this.port)
    if (isUsed) await connection.send(bytesOf({ path: '/status' }))
    // The path has the id of its record, so the rule strikes this request alone, as often as it comes.
    const rule = { drop: true, when: 'after', times: 1, match: { method: request.method, path: request.path } }
    await this.server.request(`/_sandbox/faults?world=${name}`, { method: 'POST', body: JSON.stringify(rule) })
    const all = { ...request, headers: { ...headers, ...request.headers } }
    const seen = await connection.send(bytesOf(all)).then(
      ({ status }) => String(status),
      (error: unknown) => {
        if (error instanceof Broken) return 'closed'
        throw error
      },
    )
    connection.close()
    const log = (await (await this.server.request(`/_sandbox/requests?world=${name}&limit=100`)).json()) as {
      method: string
      path: string
    }[]
    const arrived = log.filter(({ method, path }) => method === request.method && path === request.path).length
    if (arrived > 1 && !this.proxy.repeats.includes(what)) this.find(`${what} was sent ${arrived} times`)
    const orders = await this.server.request('/api/v1/orders', { headers })
    const count = ((await orders.json()) as unknown[]).length
    if (request.path === '/api/v1/orders' && count !== 1) this.find(`${what} made ${count} orders`)
    return `${arrived}, ${seen}`
  }

  /** Nothing of one client goes to another, and nothing is told of a server that has stopped. */
  async caches(): Promise<void> {
    const [one, other] = [await this.#world(), await this.#world()]
    await this.server.request(`/_sandbox/wallets/1/fund?world=${one.name}`, { method: 'POST', body: '{"amount":1}' })
    const amounts: unknown[] = []
    for (const headers of [one.headers, other.headers, one.headers, {}]) {
      const { status, body } = await this.#ask({ path: '/api/v1/wallets/1', headers })
      amounts.push(status === 200 ? (JSON.parse(body.toString()) as { amount: number }).amount : status)
    }
    if (String(amounts) !== '100001,100000,100001,401') this.find(`wallets of three askers are ${amounts}`)
  }

  async #ask(request: Parameters<typeof bytesOf>[0]): Promise<RawResponse> {
    const connection = await Connection.open(this.port)
    try {
      return await connection.send(bytesOf(request))
    } finally {
      connection.close()
    }
  }

  /** The feed of the sandbox arrives while it is open. */
  async feed(): Promise<void> {
    const { name, headers } = await this.#world()
    const signal = AbortSignal.timeout(20_000)
    const response = await fetch(`http://127.0.0.1:${this.port}/_sandbox/feed?world=${name}`, { signal })
    const reader = response.body?.getReader()
    const wallets = await this.server.request('/api/v1/wallets', { headers })
    await wallets.arrayBuffer()
    let text = ''
    const decoder = new TextDecoder()
    try {
      while (reader && !text.includes('/api/v1/wallets')) {
        const { done, value } = await reader.read()
        if (done) break
        text += decoder.decode(value, { stream: true })
      }
    } catch {
      this.find('the feed does not come through while it is open')
    }
    await reader?.cancel().catch(() => undefined)
  }

  /** A client may wait for leave to send its body, in any case of the word. */
  async expectation(): Promise<void> {
    for (const word of ['100-continue', '100-Continue']) {
      const { headers } = await this.#world()
      const body = JSON.stringify(BODY)
      const request = bytesOf({ method: 'POST', path: '/api/v1/orders', headers: { ...headers, Expect: word } })
      const head = Buffer.from(request)
        .toString('latin1')
        .replace('\r\n\r\n', `\r\nContent-Length: ${body.length}\r\n\r\n`)
      const status = await waitingFor(this.port, head, body)
      const isOfRuntime = word === '100-Continue' && status === 'nothing'
      if (status !== '200' && !isOfRuntime) this.find(`Expect: ${word} ends with ${status}`)
      if (isOfRuntime) this.expects = 'only 100-continue'
    }
  }
  expects = 'both'

  /** The log has the address of the client, whatever the client claims. */
  async address(): Promise<void> {
    const id = `rig-${this.proxy.name}`
    const text = Buffer.from(
      bytesOf({
        path: '/api/v1/wallets',
        headers: { 'X-Request-Id': id, 'X-Forwarded-For': '203.0.113.9', Connection: 'close' },
      }),
    )
    const status = await new Promise<string>((resolve) => {
      const socket = connect({ port: this.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      let response = ''
      socket.on('error', (error) => resolve(error.message)).on('close', () => resolve(response.slice(9, 12)))
      socket.on('data', (chunk) => {
        response += chunk.toString('latin1')
        socket.end()
      })
      socket.write(text)
    })
    if (status !== '401') {
      this.find(`a request from another address ends with ${status}`)
      return
    }
    await this.server.logged(id)
    const line =
      this.server
        .log()
        .split('\n')
        .find((one) => one.includes(id)) ?? ''
    const { address } = JSON.parse(line) as { address?: string }
    if (address !== '127.0.0.2') this.find(`the client at 127.0.0.2 is logged as ${address}`)
  }
}

interface Records {
  beneficiary: string
  webhook: string
}

/** Sends a head, waits for a 100 for two seconds, then sends the body. Returns the last status, or `nothing`. */
const waitingFor = (port: number, head: string, body: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    let isSent = false
    const finish = (status: string) => {
      socket.destroy()
      resolve(status)
    }
    const timer = setTimeout(() => finish('nothing'), 4_000)
    socket.on('error', () => finish('an error'))
    socket.on('close', () => finish('nothing'))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const last = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].at(-1)?.[1]
      if (last === '100' && !isSent) {
        isSent = true
        socket.write(body)
      } else if (last !== undefined && last !== '100') {
        clearTimeout(timer)
        finish(last)
      }
    })
    socket.write(head)
  })

const WRITERS = 4
const RESTARTS = 3

/** Restarts a server with data while clients write through the proxy; nothing acknowledged is lost, and nothing is done twice. */
const restarts = async (proxy: Proxy, find: (text: string) => void): Promise<string> => {
  const folder = temporaryFolder()
  const [target, port] = [await freePort(), await freePort()]
  const flags = [
    '--rate-limit',
    'off',
    '--data-dir',
    join(folder.path, 'data'),
    '--public-url',
    `http://127.0.0.1:${port}`,
  ]
  let server = await serve([...flags, '--port', String(target)])
  const before = await startProxy(proxy, [target], port)
  const token = await logIn(server.port, 'sandbox')
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const statuses = new Map<string, number>()
  const done = new Set<string>()
  let isOver = false
  const writer = async (number: number) => {
    for (let count = 0; !isOver; count++) {
      const ref = `${number}-${count}`
      const connection = await Connection.open(port).catch(() => undefined)
      const request = bytesOf({
        method: 'POST',
        path: '/api/v1/orders',
        headers,
        body: JSON.stringify({ ...BODY, ref }),
      })
      const seen = connection
        ? await connection.send(request).then(
            ({ status, body }) => {
              if (status === 200) done.add(ref)
              if (status === 400) find(`an order was sent twice: ${body}`)
              return String(status)
            },
            () => 'closed',
          )
        : 'refused'
      connection?.close()
      statuses.set(seen, (statuses.get(seen) ?? 0) + 1)
      await Bun.sleep(20)
    }
  }
  const writers = Array.from({ length: WRITERS }, (_, number) => writer(number))
  for (let count = 0; count < RESTARTS; count++) {
    await Bun.sleep(1_500)
    await server.stop()
    // A proxy that bridges the restart responds only after it.
    const status = await Promise.race([statusAt(port, '/readyz'), Bun.sleep(1_000)])
    if (status === 200) find('/readyz is 200 while the server is stopped')
    server = await serve([...flags, '--port', String(target)])
  }
  await Bun.sleep(1_500)
  isOver = true
  await Promise.all(writers)
  const listed = new Set<string>()
  for (let page = 1; ; page++) {
    const response = await server.request(`/api/v1/orders?limit=100&page=${page}`, { headers })
    const rows = (await response.json()) as { ref: string }[]
    for (const { ref } of rows) listed.add(ref)
    if (rows.length < 100) break
  }
  const lost = [...done].filter((ref) => !listed.has(ref))
  if (lost.length > 0) find(`${lost.length} acknowledged orders are lost`)
  await before.stop()
  await server.stop()
  folder[Symbol.dispose]()
  const others = [...statuses].filter(([status]) => status !== '200').map(([status, count]) => `${count} × ${status}`)
  return others.length === 0 ? 'no error' : others.join(', ')
}

const TAKEOVERS = ['hand-over', 'kill -9'] as const

/** Lets the warm one of two servers take over while clients write through the proxy and repeat what fails, with its key. */
const takeovers = async (
  proxy: Proxy,
  pair: Pair,
  ports: readonly number[],
  find: (text: string) => void,
): Promise<Record<string, string>> => {
  const port = await freePort()
  const portOf = async () => ports[await pair.ready()] ?? 0
  const text = proxy.pair?.() ?? textOf(proxy.file)
  const before = await startProxy(proxy, proxy.pair ? ports : [await portOf()], port, { text })
  // Some take all servers for ready, or none, until they have looked at them.
  for (let ready = 0; ready < 20; await Bun.sleep(100))
    ready = (await statusAt(port, '/readyz')) === 200 ? ready + 1 : 0
  const seen: Record<string, string> = {}
  for (const [seed, kind] of TAKEOVERS.entries()) {
    const { failures, lost, longestGapMs } = await keyedStorm(
      port,
      pair.live.payer,
      `${proxy.name.toLowerCase()}${seed}`,
      async (pause) => {
        for (let count = 0; count < RESTARTS; count++) {
          await pause()
          const active = await pair.ready()
          const server = pair.members[active]?.server
          await (kind === 'kill -9' ? server?.kill() : server?.stop())
          const next = await portOf()
          if (!proxy.pair) before.follow(next)
          await pause()
          await pair.serve(active)
        }
      },
    )
    for (const one of lost) find(`${kind}: ${one}`)
    const kinds = new Set<string>()
    for (const failure of failures) {
      const what = /: (\d{3})\b/.exec(failure)?.[1] ?? 'closed'
      kinds.add(what)
      if (what.startsWith('4') || failure.includes('response of another')) find(`${kind}: ${failure}`)
    }
    seen[kind] = `${(longestGapMs / 1_000).toFixed(1)} s: ${[...kinds].join(', ') || 'no error'}`
  }
  await before.stop()
  return seen
}

/** The path of the public address stands in `Location`, and leads back through the proxy. */
const belowPath = async (proxy: Proxy, find: (text: string) => void): Promise<void> => {
  if (proxy.name === 'Squid') return
  const port = await freePort()
  await using server = await serve(['--public-url', `http://127.0.0.1:${port}/rewards`])
  const before = await startProxy(proxy, [server.port], port, {
    text: proxy.below(textOf(proxy.file), '/rewards'),
    path: '/rewards',
  })
  const headers = { Authorization: `Bearer ${await logIn(server.port, 'sandbox')}`, 'Content-Type': 'application/json' }
  const url = `http://127.0.0.1:${port}/rewards/api/v1/beneficiaries`
  const made = await fetch(url, { method: 'POST', headers, body: JSON.stringify(PAYEE) })
  const location = made.headers.get('location') ?? ''
  const found = await fetch(new URL(location, url), { headers })
  if (made.status !== 201 || found.status !== 200) find(`below a path: ${made.status}, ${location}, ${found.status}`)
  await before.stop()
}

const versionOf = ({ program, version }: Proxy): string => {
  const { stdout, stderr } = Bun.spawnSync([program, ...version], { stderr: 'pipe' })
  return /\d+\.\d+(?:\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? ''
}

export const proxies: Rig = async ({ isShort, progress }): Promise<Report> => {
  const seen: Seen[] = []
  using folder = temporaryFolder()
  const ports = [await freePort(), await freePort()]
  await using pair =
    isShort || POSTGRES === undefined ? undefined : await Pair.start(folder.path, PROXIES.length, ports)
  const installed = PROXIES.filter(({ program }) => Bun.which(program) !== null)
  for (const proxy of isShort ? installed.slice(0, 2) : installed) {
    progress(`${proxy.name} ${versionOf(proxy)}`)
    const port = await freePort()
    const flags = [
      '--rate-limit',
      'off',
      '--trusted-proxy',
      '127.0.0.1/32',
      '--log-level',
      'info',
      '--log-format',
      'json',
    ]
    const server = await serve([...flags, '--public-url', `http://127.0.0.1:${port}`])
    const before = await startProxy(proxy, [server.port], port)
    const round = new Round(proxy, server, port)
    const lost = await round.lost()
    await round.caches()
    await round.feed()
    await round.expectation()
    await round.address()
    await server.stop()
    const status = await statusAt(port, '/readyz')
    if (status === 200) round.find('/readyz is 200 after the server has stopped')
    await before.stop()
    await belowPath(proxy, (text) => round.find(text))
    const restart = isShort ? '' : await restarts(proxy, (text) => round.find(text))
    const taken = pair ? await takeovers(proxy, pair, ports, (text) => round.find(text)) : {}
    const { findings } = round
    seen.push({ proxy: proxy.name, version: versionOf(proxy), lost, restart, takeovers: taken, findings })
  }
  if (pair && installed.length === PROXIES.length) {
    const rows = seen.map(({ findings: _, ...row }) => row)
    const today = new Date().toISOString().slice(0, 10)
    writeFileSync(SEEN_PATH, `${JSON.stringify({ date: today, rows }, null, 2)}\n`)
  }
  const names = Object.keys(seen[0]?.lost ?? {})
  return {
    tables: [
      [
        ['proxy', ...names, 'restarts', ...TAKEOVERS],
        ...seen.map(({ proxy, version, lost, restart, takeovers }) => [
          `${proxy} ${version}`,
          ...names.map((name) => lost[name] ?? ''),
          restart,
          ...TAKEOVERS.map((kind) => takeovers[kind] ?? ''),
        ]),
      ],
    ],
    findings: seen.flatMap(({ findings }) => findings),
  }
}
