import { bytesOf, Connection } from './connection.ts'
import { logIn, type Server, threadMs } from './server.ts'

/** What requests cost while a page of the console is open, which follows the feed, and while none is: in turns. */

export interface PageCost {
  name: string
  /** Processor time of the thread for one request, in milliseconds: the least of all turns, as other programs only add. */
  closedMs: number
  openMs: number
  ratio: number
}

/** So many that the thread always has something to do: what a page may take is a share of its time. */
const CONNECTIONS = 16
/** Before a turn is over, so that what is still sent to the page counts. */
const SETTLING_MS = 60

interface Kind {
  /** In a turn: they take some tenths of a second, as less is lost in what other programs do. */
  requests: number
  asked: (n: number) => { method?: string; path: string; body?: string }
}

const KINDS: Record<string, Kind> = {
  'read a product': { requests: 16_000, asked: () => ({ path: '/api/v1/products/1' }) },
  'save a beneficiary': {
    requests: 5_000,
    asked: (n) => ({
      path: '/api/v1/beneficiaries',
      body: JSON.stringify({ email: `p${n}@example.com`, first_name: 'Ada', last_name: 'Lovelace' }),
    }),
  },
  order: {
    requests: 1_000,
    asked: () => ({ path: '/api/v1/orders', body: '{"product_id":2,"denomination":50,"quantity":1}' }),
  },
  payout: {
    requests: 2_000,
    asked: (n) => ({
      path: '/api/v1/payouts',
      body: JSON.stringify({
        reference_id: `cost-${n}`,
        wallet_id: 1,
        amount: 1,
        currency: 'USD',
        beneficiary_email: 'ada@example.com',
        beneficiary_first_name: 'Ada',
        beneficiary_last_name: 'Lovelace',
      }),
    }),
  },
}

/** Follows the feed of all worlds until it is stopped. */
const openPage = async (server: Server, headers: Record<string, string>): Promise<() => Promise<void>> => {
  const response = await fetch(`http://127.0.0.1:${server.port}/_sandbox/feed?world=*`, { headers })
  const reader = response.body?.getReader()
  if (!reader) throw new Error(`feed: ${response.status}`)
  const drained = (async () => {
    while (!(await reader.read()).done);
  })()
  return async () => {
    await reader.cancel()
    await drained
    await Bun.sleep(SETTLING_MS)
  }
}

/** Each turn has a world of its own, so that all work on as much data. */
const turnMs = async (server: Server, world: string, { requests, asked }: Kind): Promise<number> => {
  const headers = { Authorization: `Bearer ${await logIn(server.port, `sbx_${world}`)}` }
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(server.port)))
  let sent = 0
  const sendAll = async (connection: Connection, count: number): Promise<void> => {
    while (sent < count) {
      const { status, body } = await connection.send(bytesOf({ ...asked(++sent), headers }))
      if (status >= 300) throw new Error(`${status} ${body}`)
    }
  }
  await Promise.all(connections.map((connection) => sendAll(connection, CONNECTIONS)))
  await Bun.sleep(SETTLING_MS)
  const before = threadMs(server.pid)
  await Promise.all(connections.map((connection) => sendAll(connection, requests)))
  await Bun.sleep(SETTLING_MS)
  const spentMs = threadMs(server.pid) - before
  for (const connection of connections) connection.close()
  return spentMs / (requests - CONNECTIONS)
}

/** The headers are those that the feed needs. */
export const costsOfPage = async (
  server: Server,
  headers: Record<string, string>,
  turns: number,
): Promise<PageCost[]> => {
  const costs: PageCost[] = []
  for (const [name, kind] of Object.entries(KINDS)) {
    const closed: number[] = []
    const open: number[] = []
    // The first turn warms up.
    for (let turn = 0; turn <= turns; turn++) {
      const world = `cost-${costs.length}-${turn}`
      const withPage = async (): Promise<number> => {
        const close = await openPage(server, headers)
        const spentMs = await turnMs(server, `${world}-open`, kind)
        await close()
        return spentMs
      }
      const openFirst = turn % 2 === 0 ? await withPage() : undefined
      const closedMs = await turnMs(server, `${world}-closed`, kind)
      const openMs = openFirst ?? (await withPage())
      if (turn === 0) continue
      closed.push(closedMs)
      open.push(openMs)
    }
    const [closedMs, openMs] = [Math.min(...closed), Math.min(...open)]
    costs.push({ name, closedMs, openMs, ratio: openMs / closedMs })
  }
  return costs
}
