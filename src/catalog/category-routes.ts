import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { FEATURE_DISABLED, invalidId } from '../http/failures.ts'
import { operationsOf } from '../http/operation.ts'
import { idPath } from '../http/parameters.ts'
import { Prepared } from '../http/prepared.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import type { Catalog } from './catalog.ts'
import { CATEGORY_NOT_FOUND, SUBCATEGORY_NOT_FOUND } from './errors.ts'

/** Categories and subcategories (spec 4.3), for accounts with vouchers. Errors leave in the structured shape. */

const operation = operationsOf({ tag: 'Categories', errorShape: 'structured' })

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
      ({ request }) =>
        catalog.answer('categories', () => new Prepared(JSON.stringify(catalog.categories))).respond(request),
      operation({
        id: 'listCategories',
        prepared: true,
        breakdown: 'Failed to retrieve categories',
        summary: 'List all active categories',
        description: 'What products can be filtered by; inactive ones are never shown.',
        success: {
          status: 200,
          description: 'All active categories',
          schema: Type.Array(CategorySchema),
          example: [{ id: 1, name: 'Food & Dining' }],
        },
        errors: { 'categories.feature_disabled': FEATURE_DISABLED },
      }),
    )
    .get(
      '/categories/:id',
      ({ params }) => found(catalog.findCategory(params.id), CATEGORY_NOT_FOUND),
      operation({
        id: 'getCategory',
        breakdown: 'Failed to retrieve category',
        summary: 'Get an active category',
        description: 'An inactive one is not found.',
        params: CategoryPath,
        success: {
          status: 200,
          description: 'The category',
          schema: CategorySchema,
          example: { id: 1, name: 'Food & Dining' },
        },
        errors: {
          'categories.feature_disabled': FEATURE_DISABLED,
          'categories.invalid_id': invalidId('category'),
          'categories.not_found': CATEGORY_NOT_FOUND,
        },
      }),
    )
    .get(
      '/subcategories',
      ({ request }) =>
        catalog.answer('subcategories', () => new Prepared(JSON.stringify(catalog.subcategories))).respond(request),
      operation({
        id: 'listSubcategories',
        prepared: true,
        breakdown: 'Failed to retrieve subcategories',
        summary: 'List all active subcategories',
        description: 'What categories are divided into; inactive ones are never shown.',
        success: {
          status: 200,
          description: 'All active subcategories',
          schema: Type.Array(SubcategorySchema),
          example: [{ id: 2, name: 'Restaurants' }],
        },
        errors: { 'subcategories.feature_disabled': FEATURE_DISABLED },
      }),
    )
    .get(
      '/subcategories/:id',
      ({ params }) => found(catalog.findSubcategory(params.id), SUBCATEGORY_NOT_FOUND),
      operation({
        id: 'getSubcategory',
        breakdown: 'Failed to retrieve subcategory',
        summary: 'Get an active subcategory',
        description: 'An inactive one is not found.',
        params: SubcategoryPath,
        success: {
          status: 200,
          description: 'The subcategory',
          schema: SubcategorySchema,
          example: { id: 2, name: 'Restaurants' },
        },
        errors: {
          'subcategories.feature_disabled': FEATURE_DISABLED,
          'subcategories.invalid_id': invalidId('subcategory'),
          'subcategories.not_found': SUBCATEGORY_NOT_FOUND,
        },
      }),
    )
