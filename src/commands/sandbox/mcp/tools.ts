import { type Static, type TObject, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { GUIDES } from '../../../docs/guides.ts'
import { counted } from '../../../kernel/counted.ts'
import type { RecordedRequest, Replay, RequestDetail } from '../../../sandbox/requests/contract.ts'
import { explanationOf } from '../../../sandbox/requests/in-words.ts'
import { earlierOf } from '../requests.ts'
import { jsonOr, type Reply, type SandboxClient } from '../sandbox-client.ts'
import { guideAbout } from './guide.ts'
import { findOperations } from './operations.ts'

/** The tools of `scrip mcp` (contract C19): names and arguments are those of the command line and the control API. */

/** The result of a tool: our words, and other people's data. */
export interface Told {
  words: string
  data?: unknown
}

interface Tool {
  description: string
  input: TObject
  call: (client: SandboxClient, args: never) => Promise<Told>
}

/** Arguments that do not fit a tool. */
export class WrongArguments extends Error {}

const World = Type.Optional(
  Type.String({ description: 'The name of the world, without sbx_. By default the default world.' }),
)

const tool = <Input extends TObject>(
  description: string,
  input: Input,
  call: (client: SandboxClient, args: Static<Input>) => Promise<Told>,
): Tool => ({ description, input, call })

/** A refusal of the sandbox is a result, like a success: its status and body. */
const told = ({ status, body }: Reply, done: string): Told =>
  status < 300 ? { words: done, data: body } : { words: `The sandbox refused this with ${status}.`, data: body }

const oneOf = <const Names extends readonly string[]>(names: Names, description: string) =>
  Type.Unsafe<Names[number]>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      { description },
    ),
  )

export const TOOLS: Readonly<Record<string, Tool>> = {
  find_operation: tool(
    'Use this first, to find which operation of the API does something: method, path, parameters, an example of the body, and statuses.',
    Type.Object({
      query: Type.String({ minLength: 1, description: 'The purpose of the operation, such as "place an order"' }),
    }),
    async (client, { query }) => {
      const found = findOperations(await client.document(), query)
      return found.length === 0
        ? { words: 'No operation matches. Try the noun alone: order, payout, beneficiary, wallet, product, webhook.' }
        : { words: `${counted(found.length, 'operation')}, the best first.`, data: found }
    },
  ),
  call_operation: tool(
    'Use this to send a request to the API as a client of a world. No login and no token are needed. A status of 0 means that the response was lost: use explain_request to see what was done.',
    Type.Object({
      method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'As find_operation names it'),
      path: Type.String({ description: 'Path and query, such as /api/v1/orders?limit=5' }),
      body: Type.Optional(Type.Unknown({ description: 'The body as JSON' })),
      headers: Type.Optional(
        Type.Record(Type.String(), Type.String(), { description: 'Such as Idempotency-Key or X-Dry-Run' }),
      ),
      client: Type.Optional(Type.String({ description: 'The username of another client of the world' })),
      world: World,
    }),
    async (client, { world, body, headers, ...request }) => {
      const sent = { ...request, headers: { 'content-type': 'application/json', ...headers } }
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const reply = await client.control('POST', '/requests', {
        world,
        body: { ...sent, ...(text !== undefined && { body: text }) },
      })
      if (reply.status >= 300) return told(reply, '')
      const { status, headers: received, body: response } = reply.body as Static<typeof Replay>
      if (status === 0) return { words: 'Status 0: the response was lost. explain_request says what was done.' }
      const type = received['content-type'] ?? ''
      if (type.startsWith('image/'))
        return { words: `Status ${status}. The body is a picture: ${type}, ${response.length} characters.` }
      const dryRun = received['x-dry-run'] === 'true' ? ' It was a dry run: nothing of it stays.' : ''
      return { words: `Status ${status}.${dryRun}`, data: jsonOr(response) }
    },
  ),
  list_requests: tool(
    'Use this to see what a program has sent: the last requests of a world, the newest first, with status and error. With wait, it returns as soon as one matches.',
    Type.Object({
      world: World,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      status: Type.Optional(Type.String({ description: 'Such as 4xx, 404, or 0 for lost responses' })),
      path: Type.Optional(Type.String({ description: 'Such as /api/v1/orders, or /api/v1/*' })),
      method: Type.Optional(Type.String({ description: 'Such as POST' })),
      search: Type.Optional(Type.String({ description: 'Part of the path or a body' })),
      after: Type.Optional(Type.Integer({ minimum: 0, description: 'The id of a request: only later ones' })),
      wait: Type.Optional(Type.String({ description: 'Waits for the first one that matches: 1s to 30s' })),
    }),
    async (client, { world, limit = 20, ...filters }) => {
      const query = new URLSearchParams({ limit: `${limit}` })
      for (const [name, value] of Object.entries(filters)) query.set(name, `${value}`)
      const reply = await client.control('GET', `/requests?${query}`, { world })
      if (reply.status >= 300) return told(reply, '')
      const heads = reply.body as RecordedRequest[]
      return {
        words: `${counted(heads.length, 'request')}.`,
        data: heads.map(({ id, at, method, path, client, response, outcome, message, fault, dry_run, resent_of }) => {
          return { id, at, method, path, client, status: response.status, outcome, message, fault, dry_run, resent_of }
        }),
      }
    },
  ),
  explain_request: tool(
    'Use this when a request failed, was lost or surprised: its messages, the reason of a refusal, and the rows, ledger entries, events and deliveries that it caused.',
    Type.Object({
      id: Type.Optional(
        Type.Integer({ minimum: 1, description: 'From list_requests. By default the newest request.' }),
      ),
      world: World,
    }),
    async (client, { id, world }) => {
      const newest =
        id ?? ((await client.control('GET', '/requests?limit=1', { world })).body as Partial<RecordedRequest>[])[0]?.id
      if (newest === undefined) return { words: 'This world has received no request yet.' }
      const reply = await client.control('GET', `/requests/${newest}`, { world })
      if (reply.status >= 300) return told(reply, '')
      const detail = reply.body as Detail
      const { request, response, changes, ledger, caused, deliveries } = detail
      return {
        words: explanationOf(detail, await earlierOf(client, detail)),
        data: { request, response, changes, ledger, caused, deliveries },
      }
    },
  ),
  world: tool(
    'Use this to list worlds, or to make, reset, fork or drop one. Each world has its own data, clock and limits: make one for each test or experiment.',
    Type.Object({
      action: oneOf(['list', 'make', 'reset', 'fork', 'drop'], 'The action. fork copies the world `from`.'),
      name: Type.Optional(Type.String({ description: 'The world; needed by all but list' })),
      from: Type.Optional(Type.String({ description: 'The world that fork copies. By default the default world.' })),
    }),
    async (client, { action, name, from = 'default' }) => {
      if (action === 'list') return told(await client.control('GET', '/worlds'), 'All worlds.')
      if (name === undefined) throw new WrongArguments(`action ${action} needs a name`)
      if (action === 'reset') return told(await client.control('POST', '/reset', { world: name }), `Reset ${name}.`)
      const path = `/worlds/${encodeURIComponent(name)}`
      if (action === 'drop') return told(await client.control('DELETE', path), `Dropped ${name}.`)
      const body = action === 'fork' ? { from } : {}
      return told(await client.control('PUT', path, { body }), `Made ${name}.`)
    },
  ),
  clock: tool(
    'Use this to read or move the clock of a world: payouts, orders, tokens and limits follow it. It never goes back once something was written.',
    Type.Object({
      advance: Type.Optional(Type.String({ description: 'An ISO 8601 duration, such as PT5S or P1D' })),
      now: Type.Optional(Type.String({ description: 'An RFC 3339 time' })),
      frozen: Type.Optional(Type.Boolean({ description: 'True if it stands still' })),
      world: World,
    }),
    async (client, { world, ...change }) => {
      if (Object.keys(change).length === 0) return told(await client.control('GET', '/clock', { world }), 'The clock.')
      return told(
        await client.control('POST', '/clock', { world, body: change }),
        'The clock, and the events of the move.',
      )
    },
  ),
  faults: tool(
    'Use this to make requests of a world fail as networks and servers do: lose a response after the work is done, and see what a client does then.',
    Type.Object({
      action: oneOf(['list', 'add', 'clear', 'errors'], 'errors lists the documented errors that can be injected'),
      rule: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description:
            'For add: one of drop: true, error: "<name>", status: 502|503|504, delay_ms, cut_after_bytes, bytes_per_second; when: "before"|"after" the work; match: {method, path}; times',
        }),
      ),
      world: World,
    }),
    async (client, { action, rule, world }) => {
      if (action === 'list') return told(await client.control('GET', '/faults', { world }), 'The active faults.')
      if (action === 'clear') return told(await client.control('DELETE', '/faults', { world }), 'Removed all faults.')
      if (action === 'errors') return told(await client.control('GET', '/errors', { world }), 'The documented errors.')
      if (rule === undefined) throw new WrongArguments('action add needs a rule')
      return told(await client.control('POST', '/faults', { world, body: rule }), 'Added the fault.')
    },
  ),
  scenario: tool(
    'Use this to replace a world by one that is made of requests in order: clients, orders and payouts in any state, faults and clock. {{name.member}} in path, headers or body is that member of the response to the step of that name.',
    Type.Object({
      steps: Type.Optional(
        Type.Array(Type.Record(Type.String(), Type.Unknown()), {
          description:
            'Each {name?, as?, method, path, headers?, body?, expect?}: expect is a status, any 2xx if left out. Without steps, the scenario of what was sent so far is returned, and nothing changes.',
        }),
      ),
      world: World,
    }),
    async (client, { steps, world }) =>
      steps
        ? told(await client.control('PUT', '/scenario', { world, body: { steps } }), 'Made the world of the steps.')
        : told(await client.control('GET', '/requests?format=scenario', { world }), 'The scenario of this world.'),
  ),
  test_values: tool(
    'Use this to find values that behave specially: sold-out products, payees whose payout fails, amounts that exceed the balance.',
    Type.Object({}),
    async (client) => told(await client.control('GET', '/test-values'), 'Values that behave specially.'),
  ),
  read_guide: tool(
    'Use this to learn how something is done: retries, idempotency, webhooks, money, errors, test runners. Without a name, it lists the guides.',
    Type.Object({
      name: Type.Optional(oneOf(Object.keys(GUIDES), 'The guide')),
      about: Type.Optional(Type.String({ description: 'Only the sections that hold these words' })),
    }),
    async (_, { name, about }) => ({ words: await guideAbout(name, about) }),
  ),
}

type Detail = Static<typeof RequestDetail>

/** @throws WrongArguments, or ProgramError if the sandbox is away */
export const callTool = async (client: SandboxClient, name: string, args: unknown): Promise<Told> => {
  const found = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined
  if (!found) throw new WrongArguments(`there is no tool ${name}: the tools are ${Object.keys(TOOLS).join(', ')}`)
  const { input, call } = found
  const unknown = Object.keys((args ?? {}) as object).find((member) => !Object.hasOwn(input.properties, member))
  if (unknown !== undefined) throw new WrongArguments(`${name} has no argument ${unknown}`)
  const [problem] = Value.Errors(input, args)
  if (problem) {
    const { anyOf: values } = problem.schema as { anyOf?: { const: string }[] }
    const expected = values ? `must be one of ${values.map((value) => value.const).join(', ')}` : problem.message
    throw new WrongArguments(`${problem.path.slice(1) || 'arguments'}: ${expected}`)
  }
  return call(client, args as never)
}
