import { type Static, Type } from '@sinclair/typebox'
import { nullable, oneOf, Timestamp } from '../../http/schemas.ts'

/** What the request log and the coverage report look like on the wire (contract C15). */

const Headers = Type.Record(Type.String(), Type.String(), { title: 'MessageHeaders' })

/** A request and its response, without secrets. */
export type RecordedRequest = Static<typeof RecordedRequest>
export const RecordedRequest = Type.Object(
  {
    id: Type.Integer(),
    request_id: Type.String(),
    at: Timestamp,
    method: Type.String(),
    path: Type.String({ description: 'Path and query' }),
    route: nullable(Type.String()),
    client: nullable(Type.String()),
    request: Type.Object({ headers: Headers, body: nullable(Type.String()) }, { title: 'RequestMessage' }),
    response: Type.Object(
      { status: Type.Integer(), headers: Headers, body: nullable(Type.String()) },
      { title: 'ResponseMessage' },
    ),
    duration_ms: Type.Number(),
    fault: nullable(Type.String({ description: 'The fault that struck' })),
    outcome: nullable(Type.String({ description: 'success, or the documented name of the error' })),
    changes: Type.Array(
      Type.Object(
        { table: Type.String(), operation: oneOf(['insert', 'update', 'delete']), key: Type.String() },
        { title: 'RowChange' },
      ),
      { description: 'The rows that the request wrote' },
    ),
  },
  { title: 'RecordedRequest' },
)

const COUNTRY_EXAMPLE =
  '{"id":1,"name":"Aruba","official_name":"Aruba","alpha_2":"AW","alpha_3":"ABW","numeric_code":"533","dialing_prefix":"+297"}'
export const RECORDED_REQUEST_EXAMPLE: RecordedRequest = {
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

/** The HTTP Archive, as far as the document describes it. */
export const Har = Type.Object(
  {
    log: Type.Object(
      {
        version: Type.String(),
        creator: Type.Object({ name: Type.String(), version: Type.String() }, { title: 'HarCreator' }),
        entries: Type.Array(
          Type.Object(
            { startedDateTime: Timestamp, time: Type.Number() },
            { title: 'HarEntry', additionalProperties: true },
          ),
        ),
      },
      { title: 'HarLog' },
    ),
  },
  { title: 'Har' },
)

/** The response that a replayed request got. */
export const Replay = Type.Object(
  { status: Type.Integer(), headers: Headers, body: Type.String() },
  { title: 'ReplayResult' },
)
export const REPLAY_EXAMPLE: Static<typeof Replay> = {
  status: 200,
  headers: { 'x-request-id': 'req_default_3' },
  body: COUNTRY_EXAMPLE,
}

export type CoverageReport = Static<typeof CoverageReport>
export const CoverageReport = Type.Object(
  {
    documented: Type.Integer(),
    exercised: Type.Integer(),
    percent: Type.Number({ description: 'Rounded down to one decimal, so that 100 means all' }),
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
export const COVERAGE_EXAMPLE: CoverageReport = {
  documented: 1,
  exercised: 1,
  percent: 100,
  outcomes: [
    { operation: 'getCountry', method: 'GET', path: '/api/v1/countries/:id', status: 200, name: 'success', count: 1 },
  ],
}
