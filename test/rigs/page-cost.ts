import { type Running, threadMs } from '../program.ts'
import { HUNDRED } from '../records.ts'
import { ask, bytesOf, Connection } from './connection.ts'
import { percentile } from './report.ts'
import { logIn } from './server.ts'

/** What requests cost while a page of the console is open, which follows the feed, and while none is: in turns. */

export interface PageCost {
  name: string
  /** Processor time of the thread for one request while no page is open, in milliseconds: the median of all turns. */
  closedMs: number
  /** What it costs while a page is open, in relation to the turn beside it: the median of all pairs. */
  ratio: number
}

/** So many that the thread always has something to do: what a page may take is a share of its time. */
const CONNECTIONS = 16
/** Of a turn: so short that a machine whose speed changes is as fast in both turns of a pair. */
const TURN_MS = 150
/** Before a turn is over, so that what is still sent to the page counts. */
const SETTLING_MS = 60
/** The first turns warm up. */
const WARM_UP_PAIRS = 10

type Kind = (n: number) => { method?: string; path: string; body?: string }

const KINDS: Record<string, Kind> = {
  'read a product': () => ({ path: '/api/v1/products/1' }),
  'save a beneficiary': (n) => ({
    path: '/api/v1/beneficiaries',
    body: JSON.stringify({ email: `p${n}@example.com`, first_name: 'Ada', last_name: 'Lovelace' }),
  }),
  order: () => ({ path: '/api/v1/orders', body: '{"product_id":2,"denomination":50,"quantity":1}' }),
  payout: (n) => ({
    path: '/api/v1/payouts',
    body: JSON.stringify({ ...HUNDRED, reference_id: `cost-${n}`, amount: 1 }),
  }),
}

/** Follows the feed of all worlds until it is stopped. */
const openPage = async (server: Running, headers: Record<string, string>): Promise<() => Promise<void>> => {
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

/** A client of a world of its own, with money enough, that asks for one kind of thing over all connections. */
class Client {
  #sent = 0

  private constructor(
    private readonly server: Running,
    private readonly connections: readonly Connection[],
    private readonly token: string,
    private readonly kind: Kind,
  ) {}

  static async open(server: Running, control: Record<string, string>, world: string, kind: Kind): Promise<Client> {
    await logIn(server.port, `sbx_${world}`)
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(server.port)))
    for (const [route, sent] of FURNISHING) {
      const path = `/_sandbox/${route}?world=${world}`
      const { status, body } = await ask(server.port, { path, headers: control, body: sent })
      if (status !== 200) throw new Error(`${status} ${body}`)
    }
    // Moving the clock has ended the first login, which made the world.
    return new Client(server, connections, await logIn(server.port, `sbx_${world}`), kind)
  }

  close(): void {
    for (const connection of this.connections) connection.close()
  }

  /** The processor time of a request, in milliseconds. */
  async turn(): Promise<number> {
    await this.#ask(() => false)
    const [sent, before] = [this.#sent, threadMs(this.server.pid)]
    const endsMs = performance.now() + TURN_MS
    await this.#ask(() => performance.now() < endsMs)
    await Bun.sleep(SETTLING_MS)
    return (threadMs(this.server.pid) - before) / (this.#sent - sent)
  }

  /** One request over each connection, and more while there is time. */
  async #ask(goesOn: () => boolean): Promise<void> {
    const headers = { Authorization: `Bearer ${this.token}` }
    await Promise.all(
      this.connections.map(async (connection) => {
        do {
          const { status, body } = await connection.send(bytesOf({ ...this.kind(++this.#sent), headers }))
          if (status >= 300) throw new Error(`${status} ${body}`)
        } while (goesOn())
      }),
    )
  }
}

/** Money in both wallets, and a clock that stands still: what it brings about later would count in another turn. */
const FURNISHING = [
  ['wallets/1/fund', '{"amount":10000000}'],
  ['wallets/2/fund', '{"amount":10000000}'],
  ['clock', '{"frozen":true}'],
] as const

/** The headers are those that `/_sandbox` needs. */
export const costsOfPage = async (
  server: Running,
  headers: Record<string, string>,
  pairs: number,
): Promise<PageCost[]> => {
  const costs: PageCost[] = []
  for (const [name, kind] of Object.entries(KINDS)) {
    const client = await Client.open(server, headers, `cost-${costs.length}`, kind)
    const withPage = async (): Promise<number> => {
      const close = await openPage(server, headers)
      const spentMs = await client.turn()
      await close()
      return spentMs
    }
    const turns: { closedMs: number; openMs: number }[] = []
    for (let pair = 0; pair < WARM_UP_PAIRS + pairs; pair++) {
      const openFirst = pair % 2 === 0 ? await withPage() : undefined
      const closedMs = await client.turn()
      turns.push({ closedMs, openMs: openFirst ?? (await withPage()) })
    }
    client.close()
    const counted = turns.slice(WARM_UP_PAIRS)
    costs.push({
      name,
      closedMs: percentile(
        counted.map(({ closedMs }) => closedMs),
        0.5,
      ),
      ratio: percentile(
        counted.map(({ closedMs, openMs }) => openMs / closedMs),
        0.5,
      ),
    })
  }
  return costs
}
