import { Type } from '@sinclair/typebox'
import { choiceFilter, parameter, parseId } from '../../http/parameters.ts'
import { type Failure, violation } from '../../kernel/failure.ts'
import { controlOperation, worldErrors } from '../control/operation.ts'
import { REQUEST_NOT_FOUND } from '../errors.ts'
import { WorldQuery } from '../worlds/model.ts'
import {
  COVERAGE_EXAMPLE,
  CoverageReport,
  Har,
  RECORDED_REQUEST_EXAMPLE,
  REPLAY_EXAMPLE,
  RecordedRequest,
  Replay,
} from './model.ts'

/** The request log of a world (contract C15). */

const CURL_EXAMPLE = "curl -X GET 'http://127.0.0.1:4747/api/v1/countries/1'\n"

const ListQuery = Type.Object({
  ...WorldQuery.properties,
  format: choiceFilter(['json', 'har', 'curl'], 'The format of the answer: JSON, a HAR file or curl lines'),
})

const RequestPath = Type.Object({
  id: parameter<number | undefined>(Type.Integer({ minimum: 1, description: 'The request identifier' }), parseId),
})

const oneErrors: Record<string, Failure> = {
  ...worldErrors('requests'),
  'requests.not_found': REQUEST_NOT_FOUND,
}

const TABLE_EXAMPLE = '1 of 1 documented outcomes were exercised: 100 %\n'

const CoverageQuery = Type.Object({
  ...WorldQuery.properties,
  format: choiceFilter(['json', 'table'], 'The format of the answer: JSON, or a table to read'),
})

export const listRequests = controlOperation({
  id: 'listRequests',
  summary: 'Read the request log of a world',
  description: 'The last 1,000 requests, the oldest first, without secrets; as JSON, HAR 1.2 or curl lines.',
  query: ListQuery,
  success: {
    status: 200,
    description: 'The requests',
    schema: Type.Union([Type.Array(RecordedRequest), Har]),
    example: [RECORDED_REQUEST_EXAMPLE],
    alsoAs: { 'text/plain': { schema: Type.String(), example: CURL_EXAMPLE } },
  },
  errors: {
    ...worldErrors('requests'),
    'requests.validation': violation('format', 'enum', 'must be one of json, har, curl'),
  },
})

export const getRequest = controlOperation({
  id: 'getRequest',
  summary: 'Read one request',
  description: 'The request and its response, without secrets, and the rows that it wrote.',
  params: RequestPath,
  query: WorldQuery,
  success: { status: 200, description: 'The request', schema: RecordedRequest, example: RECORDED_REQUEST_EXAMPLE },
  errors: oneErrors,
})

export const replayRequest = controlOperation({
  id: 'replayRequest',
  summary: 'Send a request again, as the same client',
  description: 'Redacted parts of its body are sent as the log shows them.',
  params: RequestPath,
  query: WorldQuery,
  success: { status: 200, description: 'The new response', schema: Replay, example: REPLAY_EXAMPLE },
  errors: oneErrors,
})

export const getCoverage = controlOperation({
  id: 'getCoverage',
  summary: 'See which documented outcomes were exercised',
  description: 'By the requests of a world, or with `world=*` by those of all worlds since the start.',
  query: CoverageQuery,
  success: {
    status: 200,
    description: 'Every documented outcome and how often it occurred',
    schema: CoverageReport,
    example: COVERAGE_EXAMPLE,
    alsoAs: { 'text/plain': { schema: Type.String(), example: TABLE_EXAMPLE } },
  },
  errors: {
    ...worldErrors('coverage'),
    'coverage.validation': violation('format', 'enum', 'must be one of json, table'),
  },
})
