import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../../http/operation.ts'
import { parseId, QueryReader } from '../../http/query.ts'
import { idPath, nullable, oneOf, Timestamp } from '../../http/schemas.ts'
import { DomainError } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { controlRefusals, WorldQuery, worldOf } from '../control/control.ts'
import { type Coverage, toTable } from './coverage.ts'
import { toCurl, toHar } from './formats.ts'
import { type JournalEntry, journal } from './request-log.ts'

/** The journal of a world's requests, and which documented outcomes they met (contract C15). */

const JOURNAL_FORMATS = ['json', 'har', 'curl'] as const
const COVERAGE_FORMATS = ['json', 'table'] as const
const ALL_WORLDS = '*'

const Headers = Type.Record(Type.String(), Type.String(), { title: 'JournalHeaders' })
const EntrySchema = Type.Object(
  {
    id: Type.Integer(),
    request_id: Type.String(),
    at: Timestamp,
    method: Type.String(),
    path: Type.String(),
    route: nullable(Type.String()),
    client: nullable(Type.String()),
    request: Type.Object({ headers: Headers, body: nullable(Type.String()) }, { title: 'JournalRequest' }),
    response: Type.Object(
      { status: Type.Integer(), headers: Headers, body: nullable(Type.String()) },
      { title: 'JournalResponse' },
    ),
    duration_ms: Type.Number(),
    fault: nullable(Type.String({ description: 'The fault that struck' })),
    outcome: nullable(Type.String({ description: 'success, or the documented name of the error' })),
    changes: Type.Array(
      Type.Object(
        { table: Type.String(), operation: oneOf(['insert', 'update', 'delete']), key: Type.String() },
        { title: 'JournalChange' },
      ),
      { description: 'The rows that the request wrote' },
    ),
  },
  { title: 'JournalEntry' },
)
const HarEntrySchema = Type.Object(
  { startedDateTime: Timestamp, time: Type.Number() },
  { title: 'HarEntry', additionalProperties: true },
)
const HarLogSchema = Type.Object(
  {
    version: Type.String(),
    creator: Type.Object({ name: Type.String(), version: Type.String() }, { title: 'HarCreator' }),
    entries: Type.Array(HarEntrySchema),
  },
  { title: 'HarLog' },
)
const HarSchema = Type.Object({ log: HarLogSchema }, { title: 'Har' })
const CURL_EXAMPLE = "curl -X GET 'http://127.0.0.1:4747/api/v1/countries/1'\n"
const TABLE_EXAMPLE = '1 of 1 documented outcomes were exercised: 100 %\n'
const COUNTRY_EXAMPLE =
  '{"id":1,"name":"Aruba","official_name":"Aruba","alpha_2":"AW","alpha_3":"ABW","numeric_code":"533","dialing_prefix":"+297"}'
const ENTRY_EXAMPLE = {
  id: 2,
  request_id: 'req_default_2',
  at: '2026-01-01T00:00:00.000Z',
  method: 'GET',
  path: '/api/v1/countries/1',
  route: '/api/v1/countries/:id',
  client: 'sandbox',
  request: { headers: { authorization: '[redacted]' }, body: null },
  response: { status: 200, headers: { 'x-request-id': 'req_default_2' }, body: COUNTRY_EXAMPLE },
  duration_ms: 0.2,
  fault: null,
  outcome: 'success',
  changes: [],
}
const CoverageSchema = Type.Object(
  {
    documented: Type.Integer(),
    exercised: Type.Integer(),
    percent: Type.Number(),
    outcomes: Type.Array(
      Type.Object(
        {
          operation: Type.String(),
          method: Type.String(),
          path: Type.String(),
          status: Type.Integer(),
          name: Type.String(),
          count: Type.Integer(),
        },
        { title: 'CoverageOutcome' },
      ),
    ),
  },
  { title: 'Coverage' },
)
const notFound = { 'requests.not_found': { code: 'request_not_found' } } as const

export interface JournalRoutesOptions {
  worlds: Worlds
  coverage: Coverage
  version: string
  publicUrl: string
  /** Asks the API again, as the same client. */
  replay: (world: World, entry: JournalEntry) => Promise<Response>
}

export const journalRoutes = ({ worlds, coverage, version, publicUrl, replay }: JournalRoutesOptions) => {
  const entryOf = (request: Request, id: string): { world: World; entry: JournalEntry } => {
    const world = worldOf(worlds, request)
    const number = parseId(id)
    const entry = number === undefined ? undefined : world.of(journal).find(number)
    if (!entry) throw new DomainError({ code: 'request_not_found' })
    return { world, entry }
  }

  return new Elysia({ name: 'sandbox-journal' })
    .get(
      '/requests',
      async ({ request, set }) => {
        const query = new QueryReader(request.url)
        const format = query.choice('format', JOURNAL_FORMATS) ?? 'json'
        query.finish()
        const entries = await worldOf(worlds, request).of(journal).entries()
        if (format === 'har') return toHar(entries, publicUrl, version)
        if (format === 'json') return entries.map(entryWire)
        set.headers['content-type'] = 'text/plain; charset=utf-8'
        return entries.map((entry) => `${toCurl(entry, publicUrl)}\n`).join('')
      },
      documented({
        id: 'listRequests',
        tag: 'Sandbox',
        summary: 'Read the journal of a world',
        description: 'The last 1,000 requests, the oldest first, without secrets; as JSON, HAR 1.2 or curl lines.',
        public: true,
        query: Type.Object({
          ...WorldQuery.properties,
          format: Type.Optional(
            oneOf(JOURNAL_FORMATS, {
              default: 'json',
              description: 'What is answered: JSON, a HAR file or curl lines',
            }),
          ),
        }),
        success: {
          status: 200,
          description: 'The requests',
          schema: Type.Union([Type.Array(EntrySchema), HarSchema]),
          example: [ENTRY_EXAMPLE],
          alsoAs: { 'text/plain': { schema: Type.String(), example: CURL_EXAMPLE } },
        },
        refusals: {
          ...controlRefusals('requests'),
          'requests.validation': {
            code: 'validation',
            violations: [{ field: 'format', rule: 'enum', problem: 'must be one of json, har, curl' }],
          },
        },
      }),
    )
    .get(
      '/requests/:id',
      ({ params, request }) => entryWire(entryOf(request, params.id).entry),
      documented({
        id: 'getRequest',
        tag: 'Sandbox',
        summary: 'Read one request',
        description: 'What was sent and answered, without secrets, and which rows it wrote.',
        public: true,
        path: idPath('request'),
        query: WorldQuery,
        success: { status: 200, description: 'The request', schema: EntrySchema, example: ENTRY_EXAMPLE },
        refusals: { ...controlRefusals('requests'), ...notFound },
      }),
    )
    .post(
      '/requests/:id/replay',
      async ({ params, request }) => {
        const { world, entry } = entryOf(request, params.id)
        const response = await replay(world, entry)
        const { status, headers } = response
        return { status, headers: Object.fromEntries(headers), body: await bodyOf(response) }
      },
      documented({
        id: 'replayRequest',
        tag: 'Sandbox',
        summary: 'Send a request again, as the same client',
        description: 'What was redacted from its body is sent as it stands in the journal.',
        public: true,
        path: idPath('request'),
        query: WorldQuery,
        success: {
          status: 200,
          description: 'What it was answered this time',
          schema: Type.Object(
            { status: Type.Integer(), headers: Headers, body: Type.String() },
            { title: 'ReplayResult' },
          ),
          example: { status: 200, headers: { 'x-request-id': 'req_default_3' }, body: COUNTRY_EXAMPLE },
        },
        refusals: { ...controlRefusals('requests'), ...notFound },
      }),
    )
    .get(
      '/coverage',
      ({ request, set }) => {
        const query = new QueryReader(request.url)
        const format = query.choice('format', COVERAGE_FORMATS) ?? 'json'
        const all = query.text('world') === ALL_WORLDS
        query.finish()
        const report = coverage.report(all ? undefined : worldOf(worlds, request))
        if (format === 'json') return report
        set.headers['content-type'] = 'text/plain; charset=utf-8'
        return toTable(report)
      },
      documented({
        id: 'getCoverage',
        tag: 'Sandbox',
        summary: 'See which documented outcomes were exercised',
        description: 'By the requests of a world, or with `world=*` by those of all worlds since the start.',
        public: true,
        query: Type.Object({
          ...WorldQuery.properties,
          format: Type.Optional(
            oneOf(COVERAGE_FORMATS, { default: 'json', description: 'What is answered: JSON, or a table to read' }),
          ),
        }),
        success: {
          status: 200,
          description: 'Every documented outcome and how often it occurred',
          schema: CoverageSchema,
          example: {
            documented: 1,
            exercised: 1,
            percent: 100,
            outcomes: [
              {
                operation: 'getCountry',
                method: 'GET',
                path: '/api/v1/countries/:id',
                status: 200,
                name: 'success',
                count: 1,
              },
            ],
          },
          alsoAs: { 'text/plain': { schema: Type.String(), example: TABLE_EXAMPLE } },
        },
        refusals: {
          ...controlRefusals('coverage'),
          'coverage.validation': {
            code: 'validation',
            violations: [{ field: 'format', rule: 'enum', problem: 'must be one of json, table' }],
          },
        },
      }),
    )
}

/** Where the request was broken off, so is its replay. @throws DomainError connection_dropped */
const bodyOf = async (response: Response): Promise<string> => {
  try {
    return await response.text()
  } catch {
    throw new DomainError({ code: 'connection_dropped' })
  }
}

const entryWire = ({ requestId, durationMs, ...entry }: JournalEntry) => ({
  ...entry,
  request_id: requestId,
  duration_ms: durationMs,
})
