import { Type } from '@sinclair/typebox'
import { FEATURE_DISABLED, invalidId } from '../http/failures.ts'
import { listOf, operationsOf } from '../http/operation.ts'
import { idPath } from '../http/parameters.ts'
import { CATEGORY_NOT_FOUND, SUBCATEGORY_NOT_FOUND } from './errors.ts'

const operation = operationsOf({
  tag: 'Categories',
  tagDescription: 'Groups of products. For accounts with the vouchers feature.',
  errorShape: 'structured',
})

const named = { id: Type.Integer(), name: Type.String() }
const CategorySchema = Type.Object(named, { title: 'Category' })
const SubcategorySchema = Type.Object(named, { title: 'Subcategory' })
const CATEGORY_EXAMPLE = { id: 1, name: 'Food & Dining' }
const SUBCATEGORY_EXAMPLE = { id: 2, name: 'Restaurants' }

export const listCategories = operation({
  id: 'listCategories',
  stored: true,
  unexpectedError: 'Failed to retrieve categories',
  summary: 'List all active categories',
  description: 'Products can be filtered by category. Inactive categories are never listed.',
  success: listOf('All active categories', CategorySchema, CATEGORY_EXAMPLE),
  errors: { 'categories.feature_disabled': FEATURE_DISABLED },
})

export const getCategory = operation({
  id: 'getCategory',
  unexpectedError: 'Failed to retrieve category',
  summary: 'Get an active category',
  description: 'An inactive one is not found.',
  params: idPath('category'),
  success: { status: 200, description: 'The category', schema: CategorySchema, example: CATEGORY_EXAMPLE },
  errors: {
    'categories.feature_disabled': FEATURE_DISABLED,
    'categories.invalid_id': invalidId('category'),
    'categories.not_found': CATEGORY_NOT_FOUND,
  },
})

export const listSubcategories = operation({
  id: 'listSubcategories',
  stored: true,
  unexpectedError: 'Failed to retrieve subcategories',
  summary: 'List all active subcategories',
  description: 'Each belongs to a category. Inactive subcategories are never listed.',
  success: listOf('All active subcategories', SubcategorySchema, SUBCATEGORY_EXAMPLE),
  errors: { 'subcategories.feature_disabled': FEATURE_DISABLED },
})

export const getSubcategory = operation({
  id: 'getSubcategory',
  unexpectedError: 'Failed to retrieve subcategory',
  summary: 'Get an active subcategory',
  description: 'An inactive one is not found.',
  params: idPath('subcategory'),
  success: { status: 200, description: 'The subcategory', schema: SubcategorySchema, example: SUBCATEGORY_EXAMPLE },
  errors: {
    'subcategories.feature_disabled': FEATURE_DISABLED,
    'subcategories.invalid_id': invalidId('subcategory'),
    'subcategories.not_found': SUBCATEGORY_NOT_FOUND,
  },
})
