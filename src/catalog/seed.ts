import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { categories, clientDiscounts, subcategories } from './tables.ts'

/** The rows of the seed files (spec 2.3): inactive ones never show. */
export interface CategorySeed {
  categories: readonly { id: number; name: string; active: boolean }[]
  subcategories: readonly { id: number; name: string; category_id: number; active: boolean }[]
}

/** Writes the seed over whatever an earlier release wrote: ids stay, names may have improved. */
export const seedCategories = (tx: Transaction, seed: CategorySeed): void => {
  const improved = { name: sql`excluded.name`, active: sql`excluded.active` }
  tx.insert(categories)
    .values([...seed.categories])
    .onConflictDoUpdate({ target: categories.id, set: improved })
    .run()
  tx.insert(subcategories)
    .values(seed.subcategories.map(({ category_id: categoryId, ...row }) => ({ ...row, categoryId })))
    .onConflictDoUpdate({ target: subcategories.id, set: { ...improved, categoryId: sql`excluded.category_id` } })
    .run()
}

/** A discount that one client was promised on one product (contract C8). */
export interface AgreedDiscount {
  clientId: number
  productId: number
  discountBasisPoints: number
}

/** Writes discounts over those that were agreed on the same products before. */
export const agreeDiscounts = (tx: Transaction, agreed: readonly AgreedDiscount[]): void => {
  tx.insert(clientDiscounts)
    .values([...agreed])
    .onConflictDoUpdate({
      target: [clientDiscounts.clientId, clientDiscounts.productId],
      set: { discountBasisPoints: sql`excluded.discount_basis_points` },
    })
    .run()
}
