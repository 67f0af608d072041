import { and, gte, inArray, max, sql } from 'drizzle-orm'
import type { Tx } from '../db/database.ts'
import { categories, clientDiscounts, subcategories } from './tables.ts'

/** The rows of the seed files (spec 2.3): inactive ones never show. */
export interface CategorySeed {
  categories: readonly { id: number; name: string; active: boolean }[]
  subcategories: readonly { id: number; name: string; category_id: number; active: boolean }[]
}

/** Ids of categories that a catalog file defines begin here: no release gives one of these to its own. */
export const OWN_ID_MIN = 1_000_001

/**
 * Puts the categories of a catalog file in the place of those of the one before. One that is named again has the id that
 * it had, so that they stay as they were told.
 */
export const defineCategories = (tx: Tx, names: Record<'categories' | 'subcategories', readonly string[]>) => {
  // A subcategory of a file belongs to no category; the column wants one, and nothing asks for it.
  define(tx, categories, names.categories, {})
  define(tx, subcategories, names.subcategories, { categoryId: 1 })
}

const define = (
  tx: Tx,
  table: typeof categories | typeof subcategories,
  names: readonly string[],
  others: { categoryId?: number },
): void => {
  tx.update(table).set({ active: false }).where(gte(table.id, OWN_ID_MIN)).run()
  let next =
    Math.max(
      OWN_ID_MIN - 1,
      tx
        .select({ id: max(table.id) })
        .from(table)
        .get()?.id ?? 0,
    ) + 1
  for (const name of names) {
    const values = { id: next, name, active: true, ...others } as typeof subcategories.$inferInsert
    const [row] = tx
      .insert(table)
      .values(values)
      .onConflictDoUpdate({ target: table.name, set: { active: true } })
      .returning()
      .all()
    if (row?.id === next) next += 1
  }
}

/** Writes the seed over whatever an earlier release wrote: ids stay, names may have improved. */
export const seedCategories = (tx: Tx, seed: CategorySeed): void => {
  // What a file has defined gives way to the program's own of the same name.
  const isTaken = (table: typeof categories | typeof subcategories, rows: readonly { name: string }[]) =>
    and(
      gte(table.id, OWN_ID_MIN),
      inArray(
        table.name,
        rows.map(({ name }) => name),
      ),
    )
  tx.delete(subcategories).where(isTaken(subcategories, seed.subcategories)).run()
  tx.delete(categories).where(isTaken(categories, seed.categories)).run()
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
export const agreeDiscounts = (tx: Tx, agreed: readonly AgreedDiscount[]): void => {
  tx.insert(clientDiscounts)
    .values([...agreed])
    .onConflictDoUpdate({
      target: [clientDiscounts.clientId, clientDiscounts.productId],
      set: { discountBasisPoints: sql`excluded.discount_basis_points` },
    })
    .run()
}
