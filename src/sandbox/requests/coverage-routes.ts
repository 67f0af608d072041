import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../../http/legacy-operation.ts'
import { QueryReader } from '../../http/query.ts'
import { oneOf } from '../../http/schemas.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { controlRefusals, WorldQuery, worldOf } from '../control/control.ts'
import { type Coverage, toTable } from './coverage.ts'
import { COVERAGE_EXAMPLE, CoverageReport } from './model.ts'

const FORMATS = ['json', 'table'] as const
const ALL_WORLDS = '*'
const TABLE_EXAMPLE = '1 of 1 documented outcomes were exercised: 100 %\n'

export interface CoverageRoutesOptions {
  worlds: Worlds
  coverage: Coverage
}

export const coverageRoutes = ({ worlds, coverage }: CoverageRoutesOptions) =>
  new Elysia({ name: 'sandbox-coverage' }).get(
    '/coverage',
    ({ request, set }) => {
      const query = new QueryReader(request.url)
      const format = query.choice('format', FORMATS) ?? 'json'
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
          oneOf(FORMATS, { default: 'json', description: 'The format of the answer: JSON, or a table to read' }),
        ),
      }),
      success: {
        status: 200,
        description: 'Every documented outcome and how often it occurred',
        schema: CoverageReport,
        example: COVERAGE_EXAMPLE,
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
