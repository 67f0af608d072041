import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const categories = sqliteTable('categories', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  active: integer('active', { mode: 'boolean' }).notNull(),
})

export const subcategories = sqliteTable('subcategories', {
  id: integer('id').primaryKey(),
  categoryId: integer('category_id').notNull(),
  name: text('name').notNull(),
  active: integer('active', { mode: 'boolean' }).notNull(),
})

export const products = sqliteTable('products', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  category: text('category').notNull(),
  subCategory: text('sub_category').notNull(),
  countryId: integer('country_id').notNull(),
  currencyId: integer('currency_id').notNull(),
  imageUrl: text('image_url'),
  deliveryMode: text('delivery_mode', { enum: ['digital', 'physical'] }).notNull(),
  deliveryTime: text('delivery_time').notNull(),
  validity: text('validity').notNull(),
  terms: text('terms').notNull(),
  details: text('details').notNull(),
  howToUse: text('how_to_use').notNull(),
  active: integer('active', { mode: 'boolean' }).notNull(),
  stock: integer('stock'),
  quantityMax: integer('quantity_max').notNull(),
  gstBasisPoints: integer('gst_basis_points').notNull(),
  feeFixedMinor: integer('fee_fixed_minor').notNull(),
  feeBasisPoints: integer('fee_basis_points').notNull(),
})

export const productBands = sqliteTable(
  'product_bands',
  {
    productId: integer('product_id').notNull(),
    position: integer('position').notNull(),
    minMinor: integer('min_minor').notNull(),
    maxMinor: integer('max_minor').notNull(),
    discountBasisPoints: integer('discount_basis_points').notNull(),
  },
  (band) => [primaryKey({ columns: [band.productId, band.position] })],
)

export const clientDiscounts = sqliteTable(
  'client_discounts',
  {
    clientId: integer('client_id').notNull(),
    productId: integer('product_id').notNull(),
    discountBasisPoints: integer('discount_basis_points').notNull(),
  },
  (discount) => [primaryKey({ columns: [discount.clientId, discount.productId] })],
)
