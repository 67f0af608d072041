import { type Static, Type } from '@sinclair/typebox'

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
