import { Elysia } from 'elysia'
import type { Parts } from '../parts.ts'
import { getTestValues } from './operations.ts'
import { testValues } from './values.ts'

export const testValueRoutes = ({ worlds, catalog, ordering }: Parts) =>
  new Elysia({ name: 'sandbox-test-values' }).get(
    '/test-values',
    () => testValues(catalog, ordering.pricing.rates(worlds.default)),
    getTestValues,
  )
