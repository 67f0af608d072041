import { Elysia } from 'elysia'
import { textResponse } from '../../http/responses.ts'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/model.ts'
import { toTable } from './coverage.ts'
import * as operations from './operations.ts'

const ALL_WORLDS = '*'

export const coverageRoutes = ({ worlds, coverage }: Parts) =>
  new Elysia({ name: 'sandbox-coverage' }).get(
    '/coverage',
    ({ query: { world, format } }) => {
      const report = coverage.report(world === ALL_WORLDS ? undefined : getWorld(worlds, world))
      return format === 'table' ? textResponse(toTable(report)) : report
    },
    operations.getCoverage,
  )
