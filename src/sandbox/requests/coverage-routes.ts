import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { choiceFilter } from '../../http/parameters.ts'
import { textResponse } from '../../http/responses.ts'
import { violation } from '../../kernel/failure.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { controlOperation, worldErrors } from '../control/operation.ts'
import { getWorld, WorldQuery } from '../worlds/model.ts'
import { type Coverage, toTable } from './coverage.ts'
import { COVERAGE_EXAMPLE, CoverageReport } from './model.ts'

const ALL_WORLDS = '*'
const TABLE_EXAMPLE = '1 of 1 documented outcomes were exercised: 100 %\n'

const CoverageQuery = Type.Object({
  ...WorldQuery.properties,
  format: choiceFilter(['json', 'table'], 'The format of the answer: JSON, or a table to read'),
})

export interface CoverageRoutesOptions {
  worlds: Worlds
  coverage: Coverage
}

export const coverageRoutes = ({ worlds, coverage }: CoverageRoutesOptions) =>
  new Elysia({ name: 'sandbox-coverage' }).get(
    '/coverage',
    ({ query: { world, format } }) => {
      const report = coverage.report(world === ALL_WORLDS ? undefined : getWorld(worlds, world))
      return format === 'table' ? textResponse(toTable(report)) : report
    },
    controlOperation({
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
    }),
  )
