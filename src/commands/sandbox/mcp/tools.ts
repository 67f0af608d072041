import type { Static } from '@sinclair/typebox'
import { GUIDES } from '../../../docs/guides.ts'
import { counted } from '../../../kernel/counted.ts'
import type { RecordedRequest, Replay, RequestDetail } from '../../../sandbox/requests/contract.ts'
import { explanationOf } from '../../../sandbox/requests/in-words.ts'
import { earlierOf } from '../requests.ts'
import { jsonOr, type SandboxClient } from '../sandbox-client.ts'
import { guideAbout } from './guide.ts'
import { findOperations } from './operations.ts'
import { type ToolOf, WrongArguments } from './tool.ts'

/** The tools of `scrip mcp` (contract C19): all but the first and the last are made of operations of the control API. */

const newestIn = async (client: SandboxClient, world: unknown): Promise<number> => {
  const { status, body } = await client.control('GET', '/requests?limit=1', { world: world as string | undefined })
  const [newest] = status < 300 ? (body as RecordedRequest[]) : []
  if (!newest) throw new WrongArguments('this world has received no request yet')
  return newest.id
}

export const TOOLS: Readonly<Record<string, ToolOf>> = {
  find_operation: {
    hint: 'Use this first, to find which operation of the API does something: method, path, parameters, an example of the body, and statuses.',
    input: () => ({
      query: { type: 'string', minLength: 1, description: 'The purpose of the operation, such as "place an order"' },
    }),
    required: ['query'],
    call: async (client, { query }) => {
      const found = findOperations(await client.document(), String(query))
      return found.length === 0
        ? { words: 'No operation matches. Try the noun alone: order, payout, beneficiary, wallet, product, webhook.' }
        : { words: `${counted(found.length, 'operation')}, the best first.`, data: found }
    },
  },
  call_operation: {
    operation: 'sendRequest',
    hint: 'A status of 0 means that the response was lost: explain_request says what was done.',
    input: (sent) => ({ ...sent, body: { description: 'The body as JSON' } }),
    argumentsOf: ({ body, headers, ...sent }) => ({
      ...sent,
      headers: { 'content-type': 'application/json', ...(headers as object | undefined) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }),
    resultOf: (reply) => {
      const { status, headers, body } = reply as Static<typeof Replay>
      if (status === 0) return { words: 'Status 0: the response was lost. explain_request says what was done.' }
      const type = headers['content-type'] ?? ''
      if (type.startsWith('image/'))
        return { words: `Status ${status}. The body is a picture: ${type}, ${body.length} characters.` }
      const dryRun = headers['x-dry-run'] === 'true' ? ' It was a dry run: nothing of it stays.' : ''
      return { words: `Status ${status}.${dryRun}`, data: jsonOr(body) }
    },
  },
  list_requests: {
    operation: 'listRequests',
    hint: 'With wait, it returns as soon as one matches.',
    input: ({ format: _, bodies: __, ...filters }) => ({ ...filters, limit: { ...filters.limit, default: 20 } }),
    argumentsOf: (filters) => ({ limit: 20, ...filters }),
    resultOf: (reply) => {
      const heads = reply as RecordedRequest[]
      return {
        words: `${counted(heads.length, 'request')}.`,
        data: heads.map(({ id, at, method, path, client, response, outcome, message, fault, dry_run, resent_of }) => {
          return { id, at, method, path, client, status: response.status, outcome, message, fault, dry_run, resent_of }
        }),
      }
    },
  },
  explain_request: {
    operation: 'getRequest',
    hint: 'When a request failed, was lost or surprised, this says why and what to do. By default, it explains the newest request.',
    input: ({ format: _, ...one }) => one,
    argumentsOf: async ({ id, world }, client) => ({ world, id: id ?? (await newestIn(client, world)) }),
    resultOf: async (reply, client) => {
      const detail = reply as Static<typeof RequestDetail>
      const { request, response, changes, ledger, caused, deliveries } = detail
      return {
        words: explanationOf(detail, await earlierOf(client, detail)),
        data: { request, response, changes, ledger, caused, deliveries },
      }
    },
  },
  world: {
    operation: { list: 'listWorlds', make: 'makeWorld', reset: 'resetWorld', fork: 'makeWorld', drop: 'dropWorld' },
    hint: 'Use this for worlds. Each has its own data, clock and limits: make one for each test or experiment. fork copies the world `from`, by default the default one.',
    input: ({ world: _, ...one }) => one,
    argumentsOf: ({ action, ...one }) => {
      if (action !== 'list' && one.name === undefined) throw new WrongArguments(`action ${action} needs a name`)
      return { ...(action === 'fork' && { from: 'default' }), ...one, world: one.name }
    },
  },
  clock: {
    operation: 'moveClock',
    withoutBody: 'getClock',
    hint: 'Payouts, orders, tokens and limits follow it. Without a change, it is read.',
  },
  faults: {
    operation: { list: 'listFaults', add: 'addFault', clear: 'clearFaults', errors: 'listErrors' },
    hint: 'Use this to make requests of a world fail as networks and servers do: lose a response after the work is done, and see what a client does then.',
  },
  scenario: {
    operation: 'loadScenario',
    withoutBody: 'listRequests',
    hint: 'Without steps, it returns the scenario of what was sent so far, and nothing changes.',
    argumentsOf: (made) => ('steps' in made ? made : { ...made, format: 'scenario' }),
  },
  test_values: {
    operation: 'getTestValues',
    hint: 'Use them for sold-out products, payees whose payout fails, and amounts that exceed the balance.',
  },
  read_guide: {
    hint: 'Use this to learn how something is done: retries, idempotency, webhooks, money, errors, test runners. Without a name, it lists the guides.',
    input: () => ({
      name: { type: 'string', enum: Object.keys(GUIDES), description: 'The guide' },
      about: { type: 'string', description: 'Only the sections that hold these words' },
    }),
    call: async (_, { name, about }) => ({ words: await guideAbout(name as string, about as string) }),
  },
}
