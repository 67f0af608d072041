import { Elysia } from 'elysia'
import { textResponse } from '../../http/responses.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { getWorld } from '../worlds/model.ts'
import { type Coverage, toTable } from './coverage.ts'
import * as operations from './operations.ts'

const ALL_WORLDS = '*'

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
    operations.getCoverage,
  )
