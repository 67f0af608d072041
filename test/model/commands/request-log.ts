import fc from 'fast-check'
import { command, pick, which, worldNames } from './command.ts'

/** The request log of a world and its coverage (contract C15). */

/** An entry whose response no fault was asked for, though it says that the program broke down. */
export const brokenDown = (json: unknown): string | undefined => {
  const broken = (json as Entry[]).find(({ status, fault }) => status >= 500 && fault === null)
  return broken && `the request log says ${broken.status} of ${broken.method} ${broken.path}`
}

/** An entry whose lines do not sum to zero in each currency, or more of them than were asked for. */
const unbalanced = (json: unknown, limit = 10_000): string | undefined => {
  const entries = json as { id: number; lines: { currency: string; amount: number }[] }[]
  if (entries.length > limit) return `${entries.length} entries instead of ${limit}`
  const wrong = entries.find(({ lines }) =>
    lines.some(({ currency }) => {
      const sum = lines.reduce((total, line) => total + (line.currency === currency ? line.amount : 0), 0)
      return Math.abs(sum) > 0.000_01
    }),
  )
  return wrong && `the lines of entry ${wrong.id} do not sum to zero`
}

interface Entry {
  fault: string | null
  id: number
  method: string
  path: string
  status: number
}

/** An entry by itself: with the values of its rows, and what came of it. */
interface Detail extends Entry {
  changes: Record<'table' | 'operation' | 'key', string>[]
  ledger: unknown
  caused: unknown
  deliveries: unknown
}

export const requestLogCommands = [
  command('read the request log', ['listRequests', 'getRequest'], 2, {
    args: fc.record({
      world: worldNames,
      nth: which,
      format: fc.constantFrom(undefined, undefined, 'json', 'har', 'curl', 'xml'),
    }),
    run: async (play, { world, nth, format }) => {
      const query = format === undefined ? {} : { query: `format=${format}` }
      const log = await play.control({ operation: 'listRequests', ...query }, world, () => ({
        status: format === 'xml' ? 400 : 200,
      }))
      if (log.status !== 200 || !Array.isArray(log.json)) return
      const entries = log.json as Entry[]
      if (/TEST[0-9A-Z]{12}/.test(log.text)) play.fail('a voucher code in the request log')
      const broken = brokenDown(entries)
      if (broken) play.fail(broken)
      const entry = pick(entries, nth)
      await play.control({ operation: 'getRequest', id: entry?.id ?? 77_777 }, world, () => ({
        status: entry ? 200 : 404,
        fault: ({ json }) => {
          if (!entry) return undefined
          const { deliveries: _, caused: __, ledger, ...alone } = json as Detail
          const changes = alone.changes.map(({ table, operation, key }) => ({ table, operation, key }))
          if (!Bun.deepEquals({ ...alone, changes }, entry)) return 'an entry unlike the one in the list'
          return unbalanced(ledger)
        },
      }))
    },
  }),
  command('replay a request', ['replayRequest'], 1, {
    args: fc.record({ world: worldNames, nth: which }),
    run: async (play, { world: name, nth }) => {
      const world = play.model.worlds.get(name)
      // What is struck or limited is not foretold here; reading is.
      if (!world || world.faults.length > 0 || play.model.limits !== undefined) return
      const log = await play.control({ operation: 'listRequests' }, name, () => ({ status: 200 }))
      const isRead = ({ method, path, status }: Entry) =>
        method === 'GET' && path.startsWith('/api/v1/count') && status === 200
      const entry = pick((log.json as Entry[]).filter(isRead), nth)
      await play.control({ operation: 'replayRequest', id: entry?.id ?? 77_777 }, name, () => ({
        status: entry ? 200 : 404,
        fault: ({ json }) => (entry && (json as Entry).status !== 200 ? 'the response was another one' : undefined),
      }))
    },
  }),
  command('reconcile with a list of which nothing is ours', ['reconcile'], 1, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world }) => {
      const body = { reference: 'nobody made this', type: 'order', amount: 1, currency: 'USD' }
      await play.control({ operation: 'reconcile', body }, world, () => ({
        status: 200,
        fault: ({ json }) => {
          const { agrees, only_theirs } = json as { agrees: boolean; only_theirs: object[] }
          return agrees || only_theirs.length !== 1 ? 'a list that nobody made agrees' : undefined
        },
      }))
    },
  }),
  command('send a request', ['sendRequest'], 1, {
    args: fc.record({ world: worldNames, path: fc.constantFrom('/api/v1/countries/1', '/_sandbox/reset') }),
    run: async (play, { world: name, path }) => {
      const world = play.model.worlds.get(name)
      if (!world || world.faults.length > 0 || play.model.limits !== undefined) return
      const isRefused = path.startsWith('/_sandbox')
      await play.control({ operation: 'sendRequest', body: { method: 'GET', path } }, name, () => ({
        status: isRefused ? 400 : 200,
        fault: ({ json }) =>
          !isRefused && (json as Entry).status !== 200 ? 'the request had another response' : undefined,
      }))
    },
  }),
  command('read the ledger', ['listLedgerEntries'], 1, {
    args: fc.record({ world: worldNames, limit: fc.constantFrom(undefined, 1, 7, 0) }),
    run: async (play, { world, limit }) => {
      const query = limit === undefined ? {} : { query: `limit=${limit}` }
      await play.control({ operation: 'listLedgerEntries', ...query }, world, () => ({
        status: limit === 0 ? 400 : 200,
        ...(limit !== 0 && { fault: ({ json }) => unbalanced(json, limit) }),
      }))
    },
  }),
  command('read the test values', ['getTestValues'], 1, {
    args: fc.record({}),
    run: async (play) => {
      await play.open({ operation: 'getTestValues' }, () => ({ status: 200 }))
    },
  }),
  command('read the coverage', ['getCoverage'], 1, {
    args: fc.record({
      world: fc.oneof(worldNames, fc.constant('*')),
      format: fc.constantFrom(undefined, 'table', 'xml'),
    }),
    run: async (play, { world, format }) => {
      const call = { operation: 'getCoverage', ...(format !== undefined && { query: `format=${format}` }) }
      const status = format === 'xml' ? 400 : 200
      if (world === '*') await play.open({ ...call, query: `${call.query ?? ''}&world=*` }, () => ({ status }))
      else await play.control(call, world, () => ({ status }))
    },
  }),
]
