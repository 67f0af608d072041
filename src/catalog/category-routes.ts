import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { documented } from '../http/legacy-operation.ts'
import { idPath } from '../http/parameters.ts'
import { Prepared } from '../http/prepared.ts'
import { pathId } from '../http/query.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Catalog } from './catalog.ts'

/** Categories and subcategories (spec 4.3), for accounts with vouchers. Errors leave in the structured shape. */

const named = { id: Type.Integer(), name: Type.String() }
const CategorySchema = Type.Object(named, { title: 'Category' })
const SubcategorySchema = Type.Object(named, { title: 'Subcategory' })
const CategoryPath = idPath('category')
const SubcategoryPath = idPath('subcategory')

export const categoryRoutes = ({ catalog, guard }: { catalog: Catalog; guard: Guard }) =>
  new Elysia({ name: 'categories', prefix: '/api/v1' })
    .use(guard.plugin({ feature: 'vouchers' }))
    .get(
      '/categories',
      () => catalog.answer('categories', () => new Prepared(JSON.stringify(catalog.categories))),
      documented({
        id: 'listCategories',
        prepared: true,
        tag: 'Categories',
        summary: 'List all active categories',
        description: 'What products can be filtered by; inactive ones are never shown.',
        success: {
          status: 200,
          description: 'All active categories',
          schema: Type.Array(CategorySchema),
          example: [{ id: 1, name: 'Food & Dining' }],
        },
        refusals: { 'categories.feature_disabled': { code: 'feature_disabled' } },
      }),
    )
    .get(
      '/categories/:id',
      ({ params }) => found(catalog.findCategory(pathId(params.id, 'category')), 'category'),
      documented({
        id: 'getCategory',
        tag: 'Categories',
        summary: 'Get an active category',
        description: 'An inactive one is not found.',
        path: CategoryPath,
        success: {
          status: 200,
          description: 'The category',
          schema: CategorySchema,
          example: { id: 1, name: 'Food & Dining' },
        },
        refusals: {
          'categories.feature_disabled': { code: 'feature_disabled' },
          'categories.invalid_id': { code: 'invalid_id', resource: 'category' },
          'categories.not_found': { code: 'not_found', resource: 'category' },
        },
      }),
    )
    .get(
      '/subcategories',
      () => catalog.answer('subcategories', () => new Prepared(JSON.stringify(catalog.subcategories))),
      documented({
        id: 'listSubcategories',
        prepared: true,
        tag: 'Categories',
        summary: 'List all active subcategories',
        description: 'What categories are divided into; inactive ones are never shown.',
        success: {
          status: 200,
          description: 'All active subcategories',
          schema: Type.Array(SubcategorySchema),
          example: [{ id: 2, name: 'Restaurants' }],
        },
        refusals: { 'subcategories.feature_disabled': { code: 'feature_disabled' } },
      }),
    )
    .get(
      '/subcategories/:id',
      ({ params }) => found(catalog.findSubcategory(pathId(params.id, 'subcategory')), 'subcategory'),
      documented({
        id: 'getSubcategory',
        tag: 'Categories',
        summary: 'Get an active subcategory',
        description: 'An inactive one is not found.',
        path: SubcategoryPath,
        success: {
          status: 200,
          description: 'The subcategory',
          schema: SubcategorySchema,
          example: { id: 2, name: 'Restaurants' },
        },
        refusals: {
          'subcategories.feature_disabled': { code: 'feature_disabled' },
          'subcategories.invalid_id': { code: 'invalid_id', resource: 'subcategory' },
          'subcategories.not_found': { code: 'not_found', resource: 'subcategory' },
        },
      }),
    )
