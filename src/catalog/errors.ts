import { notFound } from '../kernel/failure.ts'

export const PRODUCT_NOT_FOUND = notFound('Product')
export const CATEGORY_NOT_FOUND = notFound('Category')
export const SUBCATEGORY_NOT_FOUND = notFound('Subcategory')
