import { type Static, Type } from '@sinclair/typebox'
import { EVENT_TYPES } from '../../events/types.ts'
import { choiceFilter } from '../../http/parameters.ts'
import { oneOf } from '../../http/schemas.ts'
import { violation } from '../../kernel/failure.ts'
import { controlOperation } from '../control/operation.ts'
import { WorldsQuery } from '../worlds/query.ts'

/** The coverage report: which documented outcomes requests have met (contract C15). */

const Shares = {
  exercised: Type.Integer(),
  percent: Type.Number({ description: 'Rounded down to one decimal, so that 100 means all' }),
}

export type CoverageReport = Static<typeof CoverageReport>
export const CoverageReport = Type.Object(
  {
    summary: Type.String({ description: 'How many outcomes were met, and some that were not' }),
    documented: Type.Integer(),
    ...Shares,
    worlds: Type.Array(Type.Object({ world: Type.String(), ...Shares }, { title: 'WorldCoverage' }), {
      description: 'With `world=*`: the share of each world',
    }),
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
    events: Type.Array(
      Type.Object(
        {
          type: oneOf(EVENT_TYPES),
          count: Type.Integer({ description: 'How many happened' }),
          delivered: Type.Integer({ description: 'How many deliveries receivers have accepted' }),
        },
        { title: 'CoverageEvent' },
      ),
    ),
  },
  { title: 'Coverage' },
)
/** What was met, without what was not. */
export type Met = Static<typeof Met>
export const Met = Type.Pick(CoverageReport, ['outcomes', 'events'])

const COVERAGE_EXAMPLE: CoverageReport = {
  summary: '1 of 1 outcomes of the API; all met',
  documented: 1,
  exercised: 1,
  percent: 100,
  worlds: [],
  outcomes: [
    { operation: 'getCountry', method: 'GET', path: '/api/v1/countries/:id', status: 200, name: 'success', count: 1 },
  ],
  events: [{ type: 'order.created', count: 1, delivered: 1 }],
}

export const getCoverage = controlOperation('coverage')({
  id: 'getCoverage',
  summary: 'See which documented outcomes were exercised, and which events happened',
  description:
    'By the requests of a world, or with `world=*` by those of all worlds since the start. Health checks and pictures are not counted.',
  query: Type.Object({
    ...WorldsQuery.properties,
    format: choiceFilter(['json', 'table'], 'The format of the response: JSON, or a table to read'),
  }),
  success: {
    status: 200,
    description: 'Every documented outcome and how often it occurred',
    schema: CoverageReport,
    example: COVERAGE_EXAMPLE,
    alsoAs: { 'text/plain': { schema: Type.String(), example: '1 of 1 outcomes of the API; all met\n' } },
  },
  errors: { validation: violation('format', 'enum', 'must be one of json, table') },
})
