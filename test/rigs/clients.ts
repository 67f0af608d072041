import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Running, temporaryFolder } from '../program.ts'
import {
  CELLS,
  type ClientRow,
  FILE_PATH,
  LOST,
  OTHER,
  type Outcome,
  outcomeText,
  type Table,
} from './clients/outcomes.ts'
import { CLIENTS, type Client, prepare, SHORT, type Step } from './clients/programs.ts'
import type { Rig } from './report.ts'
import { logIn, serve } from './server.ts'

/**
 * Runs HTTP clients against the executable, each with its defaults and no retry in its caller's code, and records how often
 * a request came and what the caller saw. The whole run writes the file from which `npm run docs` makes the tables of
 * docs/use/clients.md. Clients that this machine does not have keep their rows.
 */

/** Longer than the `Retry-After` of an injected 429, which is 36 s. */
const GIVEN_UP_AFTER_MS = 50_000
const IDLE_SECONDS = 80
const CUT_AT_BYTES = 20
const AT_A_TIME = 4

const ORDERS = '/api/v1/orders'
const READ = '/api/v1/countries/1'
const ORDER = '{"product_id":1,"denomination":100,"quantity":1}'

/** A request, and the faults and connections that it meets in a world of its own. */
interface Case {
  fault?: object
  method: 'POST' | 'PATCH' | 'DELETE' | 'GET'
  isUsed?: boolean
  key?: string
  redirect?: number
  expect?: boolean
  idleSeconds?: number
}

const LOST_AFTER = { drop: true, when: 'after' }
const CASES: Record<keyof ClientRow['cases'], Case> = {
  postUsed: { method: 'POST', fault: LOST_AFTER, isUsed: true },
  postNew: { method: 'POST', fault: LOST_AFTER },
  postKeyed: { method: 'POST', fault: LOST_AFTER, isUsed: true, key: 'order-1-key' },
  patchUsed: { method: 'PATCH', fault: LOST_AFTER, isUsed: true },
  patchNew: { method: 'PATCH', fault: LOST_AFTER },
  deleteUsed: { method: 'DELETE', fault: LOST_AFTER, isUsed: true },
  deleteNew: { method: 'DELETE', fault: LOST_AFTER },
  getUsed: { method: 'GET', fault: LOST_AFTER, isUsed: true },
  getNew: { method: 'GET', fault: LOST_AFTER },
  postCut: { method: 'POST', fault: { cut_after_bytes: CUT_AT_BYTES } },
  getCut: { method: 'GET', fault: { cut_after_bytes: CUT_AT_BYTES } },
  post503: { method: 'POST', fault: { error: 'unavailable' } },
  post429: { method: 'POST', fault: { error: 'rate_limited' } },
  post500: { method: 'POST', fault: { error: 'internal', when: 'after' } },
  get503: { method: 'GET', fault: { error: 'unavailable' } },
  get429: { method: 'GET', fault: { error: 'rate_limited' } },
  post302: { method: 'POST', redirect: 302 },
  post307: { method: 'POST', redirect: 307 },
  expect: { method: 'POST', expect: true },
  idle: { method: 'POST', idleSeconds: IDLE_SECONDS },
}

export const clients: Rig = async ({ isShort, progress }) => {
  using folder = temporaryFolder()
  prepare(folder.path, isShort)
  const chosen = CLIENTS.filter(({ slug }) => !isShort || SHORT.includes(slug))
  const names = CELLS.filter((name) => !isShort || name.startsWith('post') || name.endsWith('Used'))
  await using server = await serve([])
  const redirector = redirecting(server.url)
  const cells = new Map<string, Outcome>()
  const work = chosen.flatMap((client) =>
    [false, ...(client.ends ? [true] : [])].flatMap((isOff) =>
      names
        .filter((name) => !isOff || LOST.some((column) => column.cells.includes(name)))
        .filter((name) => !client.cannot?.includes(CASES[name].method))
        .map((name) => ({ client, isOff, name })),
    ),
  )
  const run = async ({ client, isOff, name }: (typeof work)[number]): Promise<void> => {
    const place = { server, folder: folder.path, redirectorUrl: `http://127.0.0.1:${redirector.port}` }
    const outcome = await outcomeOf(place, client, CASES[name], `${client.slug}-${name}${isOff ? '-off' : ''}`, isOff)
    cells.set(keyOf(client, name, isOff), outcome)
    progress(`${client.slug} ${isOff ? 'switched off ' : ''}${name}: ${outcomeText(outcome)}`)
  }
  const isWaiting = ({ name }: { name: keyof ClientRow['cases'] }): boolean => CASES[name].idleSeconds !== undefined
  const waiting = work.filter(isWaiting).map(run)
  const others = work.filter((one) => !isWaiting(one)).values()
  const worker = async (): Promise<void> => {
    for (const one of others) await run(one)
  }
  await Promise.all([...waiting, ...Array.from({ length: AT_A_TIME }, worker)])
  await redirector.stop(true)

  const rows = chosen.map((client): ClientRow => {
    const casesOf = (isOff: boolean) =>
      Object.fromEntries(
        names.flatMap((name) => {
          const outcome = cells.get(keyOf(client, name, isOff))
          return outcome ? [[name, outcome]] : []
        }),
      )
    return {
      client: client.name,
      version: versionOf(client, folder.path),
      date: new Date().toISOString().slice(0, 10),
      cases: casesOf(false) as ClientRow['cases'],
      ...(client.ends && { ends: client.ends, withIt: casesOf(true) }),
    }
  })
  if (!isShort) write(rows)
  const findings = rows.flatMap(({ client, cases }) =>
    (cases.postKeyed?.done ?? 1) === 1 ? [] : [`${client}: ${cases.postKeyed?.done} orders with one key`],
  )
  return { tables: [printedTable(rows, LOST), printedTable(rows, OTHER)], findings }
}

const keyOf = ({ slug }: Client, name: string, isOff: boolean): string => `${slug} ${name} ${isOff}`

const printedTable = (rows: readonly ClientRow[], columns: Table): string[][] => [
  ['client', ...columns.map(({ head }) => head)],
  ...rows.map(({ client, version, cases }) => [
    `${client} ${version}`,
    ...columns.map((column) => column.text(cases).replaceAll('*', '')),
  ]),
]

/** Rows of clients that are not on this machine stay. */
const write = (rows: readonly ClientRow[]): void => {
  const earlier: ClientRow[] = existsSync(FILE_PATH) ? JSON.parse(readFileSync(FILE_PATH, 'utf8')) : []
  const byName = new Map([...earlier, ...rows].map((row) => [row.client, row]))
  const ordered = CLIENTS.flatMap(({ name }) => byName.get(name) ?? [])
  writeFileSync(FILE_PATH, `${JSON.stringify(ordered, null, 2)}\n`)
}

const versionOf = ({ version }: Client, cwd: string): string => {
  const text = Bun.spawnSync([...version], { cwd }).stdout.toString()
  return /\d+(?:\.\d+)+/.exec(text)?.[0] ?? ''
}

/** Redirects `/302/path` to that path of the server, as another origin. */
const redirecting = (url: string) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      const [, status = '', path = ''] = /^\/(\d+)(\/.*)$/.exec(pathname) ?? []
      return new Response(null, { status: Number(status), headers: { Location: url + path + search } })
    },
  })

interface Place {
  server: Running
  folder: string
  redirectorUrl: string
}

interface Recorded {
  method: string
  path: string
  request: { headers: Record<string, string> }
  response: { status: number }
  changes: unknown[]
}

/** Runs a client once, in a world of its own. */
const outcomeOf = async (
  { server, folder, redirectorUrl }: Place,
  client: Client,
  { fault, method, isUsed, key, redirect, expect, idleSeconds }: Case,
  slug: string,
  isOff: boolean,
): Promise<Outcome> => {
  const world = slug.toLowerCase()
  const control = async (path: string, body?: object): Promise<unknown> => {
    const separator = path.includes('?') ? '&' : '?'
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    const response = await server.request(`/_sandbox/${path}${separator}world=${world}`, init)
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return response.json()
  }
  const token = await logIn(server.port, `sbx_${world}`)
  const path = await pathOf(server, token, method)
  if (fault) await control('faults', { ...fault, match: { method, path: pattern(path) }, times: 1 })

  const first: Step = { method: client.slug.startsWith('wget') ? method : 'GET', url: server.url + READ }
  // A redirected request without a token is not in the log of this world.
  const target = redirect === undefined ? server.url + path : `${redirectorUrl}/${redirect}${path}?${world}`
  const step: Step = { method, url: target, ...(key && { key }), ...(expect && { expect }) }
  const pause: Step[] = idleSeconds === undefined ? [] : [{ waitSeconds: idleSeconds }]
  const steps = [...(isUsed || idleSeconds ? [first] : []), ...pause, step]
  const child = Bun.spawn([...client.command(steps, isOff)], {
    cwd: folder,
    env: {
      ...process.env,
      TOKEN: token,
      BODY: method === 'PATCH' ? '{"name":"Other"}' : ORDER,
      SWITCH: isOff ? 'on' : 'off',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let isGivenUp = false
  const timer = setTimeout(
    () => {
      isGivenUp = true
      child.kill('SIGKILL')
    },
    GIVEN_UP_AFTER_MS + (idleSeconds ?? 0) * 1_000,
  )
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const exitCode = await child.exited
  clearTimeout(timer)

  const log = (await control('requests')) as Recorded[]
  const redirected = (await (await server.request('/_sandbox/requests?world=*')).json()) as Recorded[]
  const all =
    redirect === undefined
      ? log.filter((one) => one.path === path && one.method === method)
      : redirected.filter((one) => one.path === `${path}?${world}`)
  const [newest] = all
  const seen = isGivenUp ? 'waits' : seenOf(client, stdout, stderr, exitCode, steps.length)
  return {
    sent: all.length,
    done: all.filter(({ changes }) => changes.length > 0).length,
    seen,
    ...(redirect !== undefined &&
      newest && { method: newest.method, hasToken: newest.request.headers.authorization !== undefined }),
  }
}

const pattern = (path: string): string => path.replace(/\/(?:\d+|whk_\w+|ben_\w+)$/, '/:id')

const pathOf = async (server: Running, token: string, method: Case['method']): Promise<string> => {
  const make = async (path: string, body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await server.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return `${path}/${((await response.json()) as { id: string }).id}`
  }
  if (method === 'PATCH')
    return make('/api/v1/webhooks', { name: 'Rig', url: 'http://127.0.0.1:9/', events: ['order.*'] })
  if (method === 'DELETE')
    return make('/api/v1/beneficiaries', { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' })
  return method === 'GET' ? '/api/v1/wallets' : ORDERS
}

/** The view of the caller of the last step: a status, a part of a body, an error, or a status that the client makes up. */
const seenOf = ({ slug }: Client, stdout: string, stderr: string, exitCode: number, count: number): string => {
  if (slug.startsWith('wget')) {
    const status = [...stderr.matchAll(/^ {2}HTTP\/1\.1 (\d+)/gm)].at(-1)?.[1]
    return exitCode === 4 || status === undefined ? 'error' : status
  }
  const lines = stdout.trim().split('\n')
  const last = lines.at(-1) ?? ''
  const requests = count > 1 ? 2 : 1
  if (lines.length !== requests && !slug.includes('retry')) throw new Error(`${slug}: ${stdout}${stderr}`)
  if (slug.startsWith('curl') && !last.endsWith(' 0')) return 'error'
  if (last.startsWith('error')) return 'error'
  const [status = '', bytes, mark] = last.split(' ')
  if (mark === 'own') return `${status} of its own`
  return status === '200' && Number(bytes) <= CUT_AT_BYTES ? '200, a part' : status
}
