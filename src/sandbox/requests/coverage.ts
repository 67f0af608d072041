import { type Static, Type } from '@sinclair/typebox'
import { choiceFilter } from '../../http/parameters.ts'
import { violation } from '../../kernel/failure.ts'
import { controlOperation } from '../control/operation.ts'
import { WorldsQuery } from '../worlds/query.ts'

/** The coverage report: which documented outcomes requests have met (contract C15). */

const Shares = {
  exercised: Type.Integer({ example: 1 }),
  percent: Type.Number({ description: 'Rounded down to one decimal, so that 100 means all', example: 100 }),
}

export type CoverageReport = Static<typeof CoverageReport>
export const CoverageReport = Type.Object(
  {
    summary: Type.String({
      description: 'How many outcomes were met, and some that were not',
      example: '1 of 1 outcomes of the API; all met',
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

export const getCoverage = controlOperation('coverage')({
  id: 'getCoverage',
  summary: 'See which documented outcomes were exercised',
  description:
    'By the requests of a world, or with `world=*` by those of all worlds since the start. Outcomes that are the same for every operation, such as 401 and 429, are listed once, with the operation `any`. Health checks and pictures are not counted.',
  query: Type.Object({
    ...WorldsQuery.properties,
    format: choiceFilter(['json', 'table'], 'The format of the response: JSON, or a table to read'),
  }),
  success: {
    status: 200,
    description: 'Every documented outcome and how often it occurred',
    schema: CoverageReport,
    alsoAs: { 'text/plain': { schema: Type.String(), example: '1 of 1 outcomes of the API; all met\n' } },
  },
  errors: { validation: violation('format', 'enum', 'must be one of json, table') },
})
