import { Elysia } from 'elysia'
import { Json } from '../http/json.ts'
import { StoredResponse } from '../http/stored-response.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Catalog } from './catalog.ts'
import * as operations from './category-operations.ts'
import { CATEGORY_NOT_FOUND, SUBCATEGORY_NOT_FOUND } from './errors.ts'
import type { Named } from './queries.ts'

/** Categories and subcategories (spec 4.3), for accounts with vouchers. Errors leave in the structured shape. */

export const categoryRoutes = ({ catalog, guard }: { catalog: Catalog; guard: Guard }) =>
  new Elysia({ name: 'categories', prefix: '/api/v1' })
    .use(guard.plugin({ feature: 'vouchers', ready: catalog.ready }))
    .get(
      '/categories',
      () => catalog.response<Named[]>('categories', () => storedList(catalog.categories)),
      operations.listCategories,
    )
    .get(
      '/categories/:id',
      ({ params }) => found(withId(catalog.categories, params.id), CATEGORY_NOT_FOUND),
      operations.getCategory,
    )
    .get(
      '/subcategories',
      () => catalog.response<Named[]>('subcategories', () => storedList(catalog.subcategories)),
      operations.listSubcategories,
    )
    .get(
      '/subcategories/:id',
      ({ params }) => found(withId(catalog.subcategories, params.id), SUBCATEGORY_NOT_FOUND),
      operations.getSubcategory,
    )

const storedList = (list: readonly Named[]) => StoredResponse.of(Json.of<Named[]>([...list]))

const withId = (list: readonly Named[], id: number): Named | undefined => list.find((named) => named.id === id)
