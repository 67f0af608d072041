import { milliseconds } from '../bench/table.ts'
import { type Running, temporaryFolder } from '../program.ts'
import { type Ask, ask, bytesOf, Connection } from './connection.ts'
import { fill } from './filled.ts'
import { percentile, type Rig } from './report.ts'
import { logIn, serve } from './server.ts'
import { Victims } from './victims.ts'

/**
 * Latency of others while one client, or a stranger, asks for the costliest lists and sends the costliest bodies. Each
 * attack comes in every round, with a quiet time before it, and the latencies of all rounds count: five slow responses
 * in ten seconds may be the machine's.
 */

/** The longest additional wait of others at p99. */
const MORE_MS_MAX = 100
/** A client sends what the bucket of a minute holds. */
const CONNECTIONS = { client: 100, stranger: 32 }
const VICTIMS = 10
const VICTIMS_PER_SECOND = 50

interface Attack {
  name: string
  /** A client sends a burst and waits for its end; a stranger asks on all connections without a pause. */
  by: keyof typeof CONNECTIONS
  request: Ask
}

const MIB = 1_048_576
const PERSON = '"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"'
const NESTED = `${'['.repeat(29)}${']'.repeat(29)},`

/** A body of nearly 1 MiB that repeats a text in an unknown member. */
const bodyOf = (start: string, text: string, end: string): string => {
  const [head, tail] = [`{${PERSON},"note":${start}`, `${end}}`]
  return head + text.repeat(Math.floor((MIB - head.length - tail.length) / text.length)) + tail
}

const list = (name: string, path: string): Attack => ({ name, by: 'client', request: { path: `/api/v1/${path}` } })
const body = (name: string, sent: string): Attack => ({
  name,
  by: 'client',
  request: { path: '/api/v1/beneficiaries', body: sent },
})
const stranger = (name: string, request: Ask): Attack => ({ name, by: 'stranger', request })

const ATTACKS: readonly Attack[] = [
  list('lists of 10,000 transactions', 'transactions?limit=10000'),
  list('lists of 10,000 products', 'products?limit=10000'),
  list('transactions by amount, deep', 'transactions?limit=10000&page=9&sort=%7B%22field%22%3A%22amount%22%7D'),
  list('searches of payouts that find nothing', 'payouts?search=zzzzzzzz&sort_by=amount'),
  list('searches of beneficiaries that find all', 'beneficiaries?search=ada&sort_by=last_name&page=900&limit=100'),
  body('bodies of 1 MiB: one text', bodyOf('"', 'x', '"')),
  body('bodies of 1 MiB: escapes', bodyOf('"', '\\u0041', '"')),
  body('bodies of 1 MiB: too many values', bodyOf('[', '1,', '1]')),
  body('bodies of 1 MiB: nested', bodyOf('[', NESTED, '1]')),
  body('bodies of 1 MiB: long numbers', bodyOf('[', `${'1'.repeat(1_000)},`, '1]')),
  stranger('bodies of 1 MiB by strangers', { path: '/api/v1/beneficiaries', body: bodyOf('[', '1,', '1]') }),
  stranger('logins that fail', { path: '/auth/login', body: '{"username":"nobody","password":"wrong"}' }),
  stranger('the OpenAPI document', { path: '/openapi.json' }),
  stranger('the reference', { path: '/docs' }),
  stranger('the longest guide', { path: '/docs/guides/testing-with-scrip' }),
  stranger('a page of an operation', { path: '/docs/operations/createPayout' }),
  stranger('a picture', { path: '/cards/1' }),
  stranger('a page that is not there', { path: '/docs/operations/nothing' }),
]

/** Lists that cost the same however much is stored: all but searches and deep pages, which are felt with a tenth of it. */
const OF_A_MILLION: readonly Attack[] = [
  list('a million: the first page of payouts', 'payouts?limit=100'),
  list('a million: the last page of payouts', 'payouts?limit=100&page=10000'),
  list('a million: payouts of a status', 'payouts?limit=100&status=failed'),
  list('a million: payouts by amount', 'payouts?limit=100&sort_by=amount'),
  list('a million: 10,000 transactions', 'transactions?limit=10000'),
  list('a million: transactions of a currency without any', 'transactions?currency=JPY'),
  list('a million: beneficiaries by name', 'beneficiaries?limit=100&sort_by=last_name'),
]

const SIZES: readonly [records: number, attacks: readonly Attack[]][] = [
  [100_000, ATTACKS],
  [1_000_000, OF_A_MILLION],
]

export const fairness: Rig = async (settings) => {
  const rows: string[][] = []
  const findings: string[] = []
  for (const [records, attacks] of SIZES) {
    const felt = await feltOf(records, attacks, settings)
    rows.push(...felt.rows)
    findings.push(...felt.findings)
  }
  return { tables: [[['attack', 'p50', 'p99', 'longest'], ...rows]], findings }
}

const feltOf = async (
  records: number,
  attacks: readonly Attack[],
  { rounds, isShort, progress }: Parameters<Rig>[0],
): Promise<{ rows: string[][]; findings: string[] }> => {
  using temporary = temporaryFolder()
  const folder = temporary.path
  const victims = new Victims()
  try {
    await fill(folder, isShort ? 500 : records)
    const server = await serve(['--data-dir', folder, '--access-ttl', '30d'])
    const tokens: string[] = []
    for (let victim = 0; victim < VICTIMS; victim++) tokens.push(await logIn(server.port, worldOf(victim)))
    const seconds = isShort ? 0.2 : 10
    const felt = new Map<Attack | undefined, number[]>([undefined, ...attacks].map((attack) => [attack, []]))
    const findings: string[] = []
    for (let round = 0; round < rounds; round++) {
      for (const [attack, latenciesMs] of felt) {
        await refill(server)
        const window = { port: server.port, tokens, seconds, perSecond: VICTIMS_PER_SECOND }
        const [feeling] = await Promise.all([
          victims.feel(window),
          attack && send(server, attack, seconds, isShort ? 4 : CONNECTIONS[attack.by]),
        ])
        latenciesMs.push(...feeling.latenciesMs)
        findings.push(...feeling.wrong.map((each) => `${attack?.name ?? 'quiet'}: another client got ${each}`))
        progress([attack?.name ?? 'quiet', ...figures(feeling.latenciesMs)].join('  '))
      }
    }
    await server.stop()
    const boundMs = percentile(felt.get(undefined) ?? [], 0.99) + MORE_MS_MAX
    for (const [attack, latenciesMs] of felt) {
      const p99 = percentile(latenciesMs, 0.99)
      // A short form says nothing of time.
      if (!isShort && !(p99 <= boundMs)) findings.push(`${attack?.name}: others wait ${milliseconds(p99)} at p99`)
    }
    return {
      rows: [...felt].map(([attack, latenciesMs]) => [attack?.name ?? 'quiet', ...figures(latenciesMs)]),
      findings,
    }
  } finally {
    victims.end()
  }
}

const worldOf = (victim: number): string => `sbx_victim-${victim}`

const figures = (latenciesMs: readonly number[]): string[] =>
  [0.5, 0.99, 1].map((part) => milliseconds(percentile(latenciesMs, part)))

/** Gives everybody the whole of its limits again. */
const refill = async (server: Running): Promise<void> => {
  for (const world of ['default', ...Array.from({ length: VICTIMS }, (_, victim) => worldOf(victim))])
    await ask(server.port, { path: `/_sandbox/clock?world=${world}`, body: '{"advance":"PT1H"}' })
}

/** Until the last response: the next window must not feel what this attack has begun. */
const send = async (server: Running, { by, request }: Attack, seconds: number, connections: number) => {
  const endMs = performance.now() + seconds * 1_000
  const headers =
    by === 'client' ? { Authorization: `Bearer ${await logIn(server.port, 'sandbox')}` } : { 'X-Stranger': '1' }
  const bytes = bytesOf({ ...request, headers })
  const attacker = async (): Promise<void> => {
    do {
      const connection = await Connection.open(server.port)
      // A refused body may end its connection.
      await connection.send(bytes).catch(() => undefined)
      connection.close()
    } while (by === 'stranger' && performance.now() < endMs)
  }
  await Promise.all(Array.from({ length: connections }, attacker))
}
