import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { Transaction } from '../db/database.ts'
import { isWritable } from '../http/validation.ts'
import { toMajor, toMinor, toPercent } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { type ProductRecord, productRecords } from './records.ts'
import { productBands, products } from './tables.ts'

/** The catalog file (contract C8): what `--catalog FILE` reads and `scrip catalog` writes. */

const Percent = Type.Number({ minimum: 0, maximum: 100, description: 'Percentage with at most two decimals' })
const Text = Type.String({ minLength: 1 })

const ProductEntry = Type.Object(
  {
    id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
    name: Text,
    category: Text,
    sub_category: Text,
    country: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 3166-1 alpha-3' }),
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217' }),
    image_url: Type.Optional(Type.String({ minLength: 1, description: 'Left out, the program draws a card itself' })),
    delivery_mode: Type.Union([Type.Literal('digital'), Type.Literal('physical')]),
    delivery_time: Type.String({ minLength: 1, description: 'instant, or for example 24 hours' }),
    validity: Text,
    terms: Type.String(),
    details: Type.String(),
    how_to_use: Type.String(),
    active: Type.Boolean(),
    stock: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'null is unlimited' }),
    max_quantity: Type.Integer({ minimum: 1 }),
    gst_percent: Percent,
    handling_fee: Type.Object(
      { fixed: Type.Number({ minimum: 0, maximum: 1_000_000_000 }), percent: Percent },
      { additionalProperties: false },
    ),
    denominations: Type.Array(
      Type.Object(
        {
          min_value: Type.Number({ minimum: 0.01, maximum: 1_000_000_000 }),
          max_value: Type.Number({ minimum: 0.01, maximum: 1_000_000_000 }),
          discount: Percent,
        },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
  },
  { additionalProperties: false },
)

/** The JSON Schema of a catalog file. */
export const CatalogSchema = Type.Object(
  { products: Type.Array(ProductEntry) },
  { $id: 'https://scrip.example/catalog.schema.json', title: 'Scrip catalog', additionalProperties: false },
)

const UncheckedDocument = Type.Object({ products: Type.Array(Type.Unknown()) }, { additionalProperties: false })

type ProductDocument = Static<typeof ProductEntry>

/** What is wrong with a file, each with its place: `/products/3/currency: no such currency`. */
export class CatalogFault extends Error {
  override readonly name = 'CatalogFault'

  constructor(readonly problems: readonly string[]) {
    super(`The catalog has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.join('\n')}`)
  }
}

/** How many problems are told at most: enough to see what a file is, not a second file. */
const PROBLEMS_MAX = 1_000

/**
 * The products of a file, ready to be written.
 *
 * @throws CatalogFault with every bad row
 */
export const readCatalog = (text: string, reference: Reference, onRows?: OnRows): CatalogRows => {
  const { entries, problems } = parse(text)
  const isProduct = TypeCompiler.Compile(ProductEntry)
  const rows: CatalogRows = { products: [], bands: [] }
  const seen = new Set<number>()
  entries.forEach((entry, index) => {
    if (index % ROWS_PER_INSERT === 0) onRows?.('checking products', index, entries.length)
    if (!isProduct.Check(entry)) {
      problems.push(...schemaProblems(isProduct, entry, `/products/${index}`))
      return
    }
    const found = problemsOf(entry, reference)
    if (seen.has(entry.id)) found.push(`/id: ${entry.id} is taken by an earlier product`)
    seen.add(entry.id)
    problems.push(...found.map((problem) => `/products/${index}${problem}`))
    if (found.length === 0) append(rows, entry, reference)
  })
  if (problems.length > 0) throw new CatalogFault(problems.slice(0, PROBLEMS_MAX))
  return rows
}

/** Hears how far a long catalog has come. */
export type OnRows = (what: string, done: number, total: number) => void

/** A catalog in the form of the database's rows. */
export interface CatalogRows {
  products: (typeof products.$inferInsert)[]
  bands: (typeof productBands.$inferInsert)[]
}

/** Rows that one statement can carry within SQLite's limit on parameters. */
const ROWS_PER_INSERT = 500

/** Puts these products in the place of all that are there. */
export const replaceCatalog = (tx: Transaction, rows: CatalogRows, onRows?: OnRows): void => {
  tx.delete(productBands).run()
  tx.delete(products).run()
  for (let start = 0; start < rows.products.length; start += ROWS_PER_INSERT) {
    onRows?.('writing products', start, rows.products.length)
    tx.insert(products)
      .values(rows.products.slice(start, start + ROWS_PER_INSERT))
      .run()
  }
  for (let start = 0; start < rows.bands.length; start += ROWS_PER_INSERT) {
    onRows?.('writing denominations', start, rows.bands.length)
    tx.insert(productBands)
      .values(rows.bands.slice(start, start + ROWS_PER_INSERT))
      .run()
  }
}

/** The entries of a file, none of them checked yet, and what is wrong around them. */
const parse = (text: string): { entries: readonly unknown[]; problems: string[] } => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CatalogFault([`not JSON: ${error instanceof Error ? error.message : String(error)}`])
  }
  const isDocument = TypeCompiler.Compile(UncheckedDocument)
  if (isDocument.Check(value)) return { entries: value.products, problems: [] }
  const entries = typeof value === 'object' && value !== null && 'products' in value ? value.products : []
  return { entries: Array.isArray(entries) ? entries : [], problems: schemaProblems(isDocument, value, '') }
}

/** The first problem of each place. */
const schemaProblems = <Schema extends TSchema>(check: TypeCheck<Schema>, value: unknown, at: string): string[] => {
  const problems = new Map<string, string>()
  for (const { path, message } of check.Errors(value)) {
    if (!problems.has(path)) problems.set(path, `${at + path || '/'}: ${message}`)
  }
  return [...problems.values()]
}

const problemsOf = (entry: ProductDocument, reference: Reference): string[] => {
  const problems = Object.entries(entry)
    .filter(([, value]) => !isWritable(value))
    .map(([field]) => `/${field}: a text must not hold NUL or half a surrogate pair`)
  if (!reference.findCountryByAlpha3(entry.country)) problems.push(`/country: no country has the code ${entry.country}`)
  const currency = reference.findCurrencyByCode(entry.currency)
  if (!currency) return [...problems, `/currency: no circulating currency has the code ${entry.currency}`]
  const amount = (place: string, value: number): void => {
    if (toMinor(value, currency.precision) === undefined) {
      problems.push(`${place}: ${entry.currency} has ${currency.precision} decimals, ${value} has more`)
    }
  }
  const percent = (place: string, value: number): void => {
    if (toBasisPoints(value) === undefined)
      problems.push(`${place}: a percentage has at most two decimals, ${value} has more`)
  }
  percent('/gst_percent', entry.gst_percent)
  percent('/handling_fee/percent', entry.handling_fee.percent)
  amount('/handling_fee/fixed', entry.handling_fee.fixed)
  entry.denominations.forEach((band, index) => {
    const at = `/denominations/${index}`
    amount(`${at}/min_value`, band.min_value)
    amount(`${at}/max_value`, band.max_value)
    percent(`${at}/discount`, band.discount)
    if (band.max_value < band.min_value) problems.push(`${at}/max_value: ${band.max_value} is below min_value`)
  })
  return problems
}

const append = (rows: CatalogRows, entry: ProductDocument, reference: Reference): void => {
  const country = reference.findCountryByAlpha3(entry.country)
  const currency = reference.findCurrencyByCode(entry.currency)
  if (!country || !currency) return
  const minor = (value: number): number => toMinor(value, currency.precision) ?? 0
  rows.products.push({
    id: entry.id,
    name: entry.name,
    category: entry.category,
    subCategory: entry.sub_category,
    countryId: country.id,
    currencyId: currency.id,
    imageUrl: entry.image_url ?? null,
    deliveryMode: entry.delivery_mode,
    deliveryTime: entry.delivery_time,
    validity: entry.validity,
    terms: entry.terms,
    details: entry.details,
    howToUse: entry.how_to_use,
    active: entry.active,
    stock: entry.stock,
    quantityMax: entry.max_quantity,
    gstBasisPoints: toBasisPoints(entry.gst_percent) ?? 0,
    feeFixedMinor: minor(entry.handling_fee.fixed),
    feeBasisPoints: toBasisPoints(entry.handling_fee.percent) ?? 0,
  })
  entry.denominations.forEach((band, position) => {
    rows.bands.push({
      productId: entry.id,
      position,
      minMinor: minor(band.min_value),
      maxMinor: minor(band.max_value),
      discountBasisPoints: toBasisPoints(band.discount) ?? 0,
    })
  })
}

/** A percentage in basis points, or undefined when it has more than two decimals. */
const toBasisPoints = (percent: number): number | undefined => toMinor(percent, 2)

/** All products of a database as a catalog file, the oldest first: {@link readCatalog} reads the same rows from it. */
export const writeCatalog = (tx: Transaction, reference: Reference): string => {
  const entries = [...productRecords(tx).values()].map((record) => entryOf(record, reference))
  return `${JSON.stringify({ products: entries }, null, 2)}\n`
}

const entryOf = ({ row, bands }: ProductRecord, reference: Reference): ProductDocument => {
  const currency = reference.getCurrency(row.currencyId)
  const major = (minor: number): number => toMajor(minor, currency.precision)
  return {
    id: row.id,
    name: row.name,
    category: row.category,
    sub_category: row.subCategory,
    country: reference.getCountry(row.countryId).alpha3,
    currency: currency.currency,
    ...(row.imageUrl !== null && { image_url: row.imageUrl }),
    delivery_mode: row.deliveryMode,
    delivery_time: row.deliveryTime,
    validity: row.validity,
    terms: row.terms,
    details: row.details,
    how_to_use: row.howToUse,
    active: row.active,
    stock: row.stock,
    max_quantity: row.quantityMax,
    gst_percent: toPercent(row.gstBasisPoints),
    handling_fee: { fixed: major(row.feeFixedMinor), percent: toPercent(row.feeBasisPoints) },
    denominations: bands.map((band) => ({
      min_value: major(band.minMinor),
      max_value: major(band.maxMinor),
      discount: toPercent(band.discountBasisPoints),
    })),
  }
}
