import { type Static, Type } from '@sinclair/typebox'
import { EventSchema } from '../../events/contract.ts'
import { ParameterProblem, parameter, parseId, pathParameter } from '../../http/parameters.ts'
import { nullable, oneOf, Timestamp } from '../../http/schemas.ts'
import { urlBehind } from '../../http/target.ts'
import { Text } from '../../http/validation.ts'
import { DomainError, violation } from '../../kernel/failure.ts'
import { EntrySchema } from '../../wallets/ledger-entry.ts'
import { ExplainedDeliverySchema } from '../../webhooks/contract.ts'
import { isControl } from '../control/access.ts'

/** The request log of a world (contract C15). */

const MessageHeaders = Type.Record(Type.String(), Type.String(), { title: 'MessageHeaders' })

const RowChange = { table: Type.String(), operation: oneOf(['insert', 'update', 'delete']), key: Type.String() }

const COUNTRY_EXAMPLE =
  '{"id":1,"name":"Aruba","official_name":"Aruba","alpha_2":"AW","alpha_3":"ABW","numeric_code":"533","dialing_prefix":"+297"}'

const responseExample = (requestId: string) => ({
  status: 200,
  headers: { 'x-request-id': requestId },
  body: COUNTRY_EXAMPLE,
})

export type RecordedRequest = Static<typeof RecordedRequest>
export const RecordedRequest = Type.Object(
  {
    id: Type.Integer({ example: 2 }),
    world: Type.String({ example: 'checkout' }),
    request_id: Type.String({ example: 'req_checkout_2' }),
    at: Timestamp,
    method: Type.String({ example: 'GET' }),
    path: Type.String({ description: 'Path and query', example: '/api/v1/countries/1' }),
    route: nullable(Type.String({ example: '/api/v1/countries/:id' })),
    client: nullable(Type.String({ example: 'sbx_checkout' })),
    request: Type.Object(
      { headers: MessageHeaders, body: nullable(Type.String()) },
      { title: 'RequestMessage', example: { headers: { authorization: '[redacted]' }, body: null } },
    ),
    response: Type.Object(
      {
        status: Type.Integer({ description: '0 when a fault closed the connection' }),
        headers: MessageHeaders,
        body: nullable(Type.String()),
      },
      { title: 'ResponseMessage', example: responseExample('req_checkout_2') },
    ),
    duration_ms: Type.Number({ example: 0.2 }),
    fault: nullable(Type.String({ description: 'The injected fault, with `; when=after` if the work was done' })),
    outcome: nullable(Type.String({ description: 'success, or the documented name of the error', example: 'success' })),
    message: nullable(Type.String({ description: 'The message of the error' })),
    resent: Type.Boolean({
      description:
        'True for a write without an Idempotency-Key that repeats one whose response did not arrive whole, at most 2 s before',
      example: false,
    }),
    resent_of: nullable(Type.Integer({ description: 'The id of the request that it repeats' })),
    resent_after_ms: nullable(Type.Number({ description: 'The real time between that response and this request' })),
    dry_run: Type.Boolean({ description: 'True for a dry run, with X-Dry-Run: true', example: false }),
    changes: Type.Array(Type.Object(RowChange, { title: 'RowChange' }), {
      description: 'The rows that the request wrote',
      example: [],
    }),
    events: Type.Array(Type.String(), { description: 'The ids of the events that it wrote', example: [] }),
  },
  { title: 'RecordedRequest' },
)

/** A recorded request without bodies. */
export type RecordedHead = Omit<RecordedRequest, 'request' | 'response'> & {
  request: Omit<RecordedRequest['request'], 'body'>
  response: Omit<RecordedRequest['response'], 'body'>
}

const rowValues = (description: string) =>
  nullable(Type.Record(Type.String(), Type.Unknown(), { title: 'RowValues', description }))

export const RequestDetail = Type.Object(
  {
    ...RecordedRequest.properties,
    changes: Type.Array(
      Type.Object(
        {
          ...RowChange,
          before: rowValues('The row before the request; null if it was not there'),
          after: rowValues('The row after the request; null if it is gone'),
        },
        { title: 'RowChangeWithValues' },
      ),
      { description: 'The rows that the request wrote, by column, without secrets', example: [] },
    ),
    ledger: Type.Array(EntrySchema, {
      description: 'The ledger entries that it posted, the newest first',
      example: [],
    }),
    caused: Type.Array(EventSchema, { description: 'Its events, the oldest first', example: [] }),
    deliveries: Type.Array(
      Type.Object(
        {
          webhook_id: Type.String(),
          ...ExplainedDeliverySchema.properties,
          verifies: nullable(
            Type.Boolean({
              description:
                'True if the delivery in an inbox is signed with a secret of the webhook; null if no inbox has it',
            }),
          ),
        },
        { title: 'RequestDelivery' },
      ),
      { description: 'Every attempt to deliver these events, the oldest first', example: [] },
    ),
  },
  { title: 'RequestDetail' },
)

/** The HTTP Archive, which has a document of its own. */
export const Har = Type.Object(
  { log: Type.Object({}, { title: 'HarLog', additionalProperties: true, example: { version: '1.2', entries: [] } }) },
  { title: 'Har' },
)

/** The response to a request that the control API has sent. */
export const Replay = Type.Object(
  { status: Type.Integer(), headers: MessageHeaders, body: Type.String() },
  { title: 'ReplayResult', example: responseExample('req_checkout_3') },
)

export const Fault = Type.Optional(
  Text({
    minLength: 1,
    maxLength: 200,
    pattern: '^[ -~]*$', // the characters of a header
    description: 'a fault as X-Sandbox-Fault takes it: charges.rate_failed; when=after',
  }),
)

export const RequestPath = Type.Object({
  id: pathParameter(Type.Integer({ minimum: 1, description: 'The request identifier' }), parseId),
})

export const LIMIT_MAX = 10_000
export const LIMIT_DEFAULT = 1_000
const STATUS = '^(?:0|[1-5](?:[0-9]{2}|xx))$'

export const statusFilter = Type.Optional(
  parameter<string>(
    Type.String({
      pattern: STATUS,
      description: 'Only responses of this status: 404, or 4xx; 0 is a lost response',
      example: '2xx',
    }),
    (text) =>
      new RegExp(STATUS).test(text) ? text : new ParameterProblem('format', 'must be a status like 404 or 4xx'),
  ),
)

const PATTERN_LENGTH_MAX = 200
export const pathFilter = Type.Optional(
  parameter<string>(
    Type.String({
      maxLength: PATTERN_LENGTH_MAX,
      description: 'Only requests of this path; `:name` stands for one segment and `*` for anything',
      example: '/api/v1/*',
    }),
    (text) =>
      text.length <= PATTERN_LENGTH_MAX ? text : new ParameterProblem('max', 'must be at most 200 characters long'),
  ),
)

export const idsFilter = Type.Optional(
  parameter<ReadonlySet<number>>(
    Type.String({ description: 'Only the requests with these ids, separated by commas', example: '2' }),
    (text) => {
      const ids = text.split(',').map(parseId)
      return ids.includes(undefined)
        ? new ParameterProblem('format', 'must be ids, separated by commas')
        : new Set(ids as number[])
    },
  ),
)

export const CLIENT_UNKNOWN = violation('client', 'enum', 'must be the username of a client of this world')
export const PATH_WRONG = violation('path', 'format', 'must be a path outside of /_sandbox')
export const HEADERS_WRONG = violation('headers', 'format', 'must have names and values that HTTP allows')

export type SentRequest = Static<typeof SentRequest>
export const SentRequest = Type.Object(
  {
    method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: Text({ minLength: 1, maxLength: 8_000, description: 'Path and query' }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String(), { title: 'SentHeaders' })),
    body: Type.Optional(Text({ maxLength: 1_048_576, description: 'Sent as it is' })),
    client: Type.Optional(
      Text({
        maxLength: 128,
        description: 'The username of the client that sends it; by default the account of the world',
      }),
    ),
    fault: Fault,
  },
  { title: 'SentRequest' },
)

/** Refuses requests to the control API, which would send again. @throws DomainError validation */
export const checkSent = ({ path, headers }: SentRequest, publicUrl: string): void => {
  if (!path.startsWith('/') || isControl(new URL(urlBehind(publicUrl, path)).pathname))
    throw new DomainError(PATH_WRONG)
  try {
    new Headers(headers)
  } catch {
    throw new DomainError(HEADERS_WRONG)
  }
}

/** The coverage report: the documented outcomes that requests have met (contract C15). */

const Shares = {
  exercised: Type.Integer({ example: 1 }),
  percent: Type.Number({ description: 'Rounded down to one decimal, so that 100 means all', example: 100 }),
}

export type CoverageReport = Static<typeof CoverageReport>
export const CoverageReport = Type.Object(
  {
    summary: Type.String({
      description: 'The number of outcomes that were met, and some that were not',
      example: '1 of 1 documented outcomes covered.',
    }),
    documented: Type.Integer({ example: 1 }),
    ...Shares,
    worlds: Type.Array(Type.Object({ world: Type.String(), ...Shares }, { title: 'WorldCoverage' }), {
      description: 'With `world=*`: the share of each world',
      example: [],
    }),
    outcomes: Type.Array(
      Type.Object(
        {
          operation: Type.String({ example: 'getCountry' }),
          method: Type.String({ example: 'GET' }),
          path: Type.String({ example: '/api/v1/countries/:id' }),
          status: Type.Integer({ example: 200 }),
          name: Type.String({ example: 'success' }),
          count: Type.Integer({ example: 1 }),
        },
        { title: 'CoverageOutcome' },
      ),
    ),
  },
  { title: 'Coverage' },
)
