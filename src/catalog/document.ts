import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { ValueErrorType } from '@sinclair/typebox/errors'
import type { Query } from '../db/database.ts'
import { isWritable } from '../http/validation.ts'
import { toMajor, toMinor, toPercent } from '../kernel/money.ts'
import type { Reference } from '../reference/reference.ts'
import { JsonLines } from './json-lines.ts'
import { INSTANT } from './product.ts'
import {
  type CatalogRows,
  type OnRows,
  ownCategories,
  type ProductRecord,
  productRecords,
  ROWS_PER_INSERT,
} from './queries.ts'

/** The catalog file (contract C8): what `--catalog FILE` reads and `scrip catalog` writes. */

const Percent = Type.Number({ minimum: 0, maximum: 100, description: 'Percentage with at most two decimals' })
const Text = Type.String({ minLength: 1 })

const NamedEntry = Type.Object({ name: Text }, { additionalProperties: false })
const EITHER_CASE_MODE = '^(?:[Dd][Ii][Gg][Ii][Tt][Aa][Ll]|[Pp][Hh][Yy][Ss][Ii][Cc][Aa][Ll])$'

const deliveryFields = {
  image_url: Type.Optional(
    Type.String({
      pattern: '^[Hh][Tt][Tt][Pp][Ss]?://',
      description: 'an address that begins with http:// or https://; left out, the program draws a card itself',
    }),
  ),
  delivery_mode: Type.String({ pattern: EITHER_CASE_MODE, description: 'digital or physical, in either case' }),
  delivery_time: Type.String({ minLength: 1, description: 'instant, in either case, or for example 24 hours' }),
  validity: Type.String({ minLength: 1, description: 'for example 12 months; No expiry for codes that never expire' }),
}
const Bands = Type.Array(
  Type.Object(
    {
      min_value: Type.Number({ minimum: 0.01, maximum: 1_000_000_000 }),
      max_value: Type.Number({ minimum: 0.01, maximum: 1_000_000_000 }),
      discount: Percent,
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
)
const ProductId = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const CountryCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'an ISO 3166-1 alpha-3 code' })
const CurrencyCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'an ISO 4217 code' })

const ProductEntry = Type.Object(
  {
    id: ProductId,
    name: Text,
    category: Text,
    sub_category: Text,
    country: CountryCode,
    currency: CurrencyCode,
    ...deliveryFields,
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
    denominations: Bands,
  },
  { additionalProperties: false },
)

/** A product as the API answers it (spec 2.2). What else a platform says of it is left aside. */
const ApiProduct = Type.Object({
  id: ProductId,
  name: Text,
  category: Text,
  sub_category: Text,
  country_code: CountryCode,
  currency_code: CurrencyCode,
  ...deliveryFields,
  image_url: Type.Optional(Type.Union([deliveryFields.image_url, Type.Null()])),
  terms: Type.Optional(Type.String()),
  details: Type.Optional(Type.String()),
  how_to_use: Type.Optional(Type.String()),
  available_denominations: Bands,
})

/** What a product of the API is taken for where it says nothing (contract C8). */
const API_MAX_QUANTITY = 50

/** The JSON Schema of a catalog file. */
export const CatalogSchema = Type.Object(
  {
    categories: Type.Optional(Type.Array(NamedEntry, { description: "Beside the program's own" })),
    subcategories: Type.Optional(Type.Array(NamedEntry, { description: "Beside the program's own" })),
    products: Type.Array(ProductEntry),
  },
  { $id: 'https://scrip.example/catalog.schema.json', title: 'Scrip catalog', additionalProperties: false },
)

const UncheckedDocument = Type.Object(
  {
    categories: CatalogSchema.properties.categories,
    subcategories: CatalogSchema.properties.subcategories,
    products: Type.Array(Type.Unknown()),
  },
  { additionalProperties: false },
)

type ProductDocument = Static<typeof ProductEntry>

/** What is wrong with a file, each with its place: `line 7, product 3, /products/2/currency: no such currency`. */
export class CatalogFault extends Error {
  override readonly name = 'CatalogFault'

  constructor(readonly problems: readonly string[]) {
    super(`The catalog has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n${problems.join('\n')}`)
  }
}

/** Categories and subcategories by their names. */
export interface CategoryNames {
  categories: ReadonlySet<string>
  subcategories: ReadonlySet<string>
}

/** What a file is read with. */
export interface ReadingCatalog {
  reference: Reference
  /** What the program defines itself. */
  known: CategoryNames
  onRows?: OnRows | undefined
}

/**
 * The products of a file, ready to be written.
 *
 * @throws CatalogFault with every bad row
 */
export const readCatalog = (text: string, { reference, known, onRows }: ReadingCatalog): CatalogRows => {
  const { entries, list, own, problems } = parse(text, known)
  const rows: CatalogRows = { products: [], bands: [], ...own }
  const isDefined: CategoryNames = {
    categories: new Set([...known.categories, ...own.categories]),
    subcategories: new Set([...known.subcategories, ...own.subcategories]),
  }
  const readEntry = list.length === 0 ? apiReader() : fileReader()
  const seen = new Set<number>()
  let lines: JsonLines | undefined
  entries.forEach((entry, index) => {
    if (index % ROWS_PER_INSERT === 0) onRows?.('checking products', index, entries.length)
    const { product, faults } = readEntry(entry)
    if (product) {
      faults.push(...problemsOf(product, reference), ...undefinedNames(product, isDefined))
      if (seen.has(product.id)) faults.push({ path: '/id', what: `${product.id} is taken by an earlier product` })
      seen.add(product.id)
      if (faults.length === 0) append(rows, product, reference)
    }
    for (const { path, what } of faults) {
      lines ??= new JsonLines(text)
      const member = list.length === 0 ? apiPath(path) : path
      const line = lines.lineOf(list, index, member.split('/').slice(1))
      problems.push(`line ${line}, ${labelOf(entry, index)}, /${[...list, index].join('/')}${member}: ${what}`)
    }
  })
  if (problems.length > 0) throw new CatalogFault(problems)
  return rows
}

/** What is wrong with a member of a product. */
interface Fault {
  path: string
  what: string
}

type ReadEntry = (entry: unknown) => { product?: ProductDocument; faults: Fault[] }

const fileReader = (): ReadEntry => {
  const check = TypeCompiler.Compile(ProductEntry)
  return (entry) => (check.Check(entry) ? { product: entry, faults: [] } : { faults: schemaFaults(check, entry) })
}

/** Reads products in the API's own shape, and fills in what they lack. */
const apiReader = (): ReadEntry => {
  const check = TypeCompiler.Compile(ApiProduct)
  return (entry) => {
    if (!check.Check(entry)) return { faults: schemaFaults(check, entry).map(inFileNames) }
    const { country_code: country, currency_code: currency, available_denominations: denominations } = entry
    const { id, name, category, sub_category, image_url, delivery_mode, delivery_time, validity } = entry
    return {
      product: {
        ...{ id, name, category, sub_category, country, currency },
        ...(image_url && { image_url }),
        ...{ delivery_mode, delivery_time, validity },
        ...{ terms: entry.terms ?? '', details: entry.details ?? '', how_to_use: entry.how_to_use ?? '' },
        ...{ active: true, stock: null, max_quantity: API_MAX_QUANTITY, gst_percent: 0 },
        handling_fee: { fixed: 0, percent: 0 },
        denominations,
      },
      faults: [],
    }
  }
}

const API_NAMES = [
  ['/country_code', '/country'],
  ['/currency_code', '/currency'],
  ['/available_denominations', '/denominations'],
] as const

const inFileNames = ({ path, what }: Fault): Fault => {
  const renamed = API_NAMES.find(([api]) => path.startsWith(api))
  return { path: renamed ? path.replace(renamed[0], renamed[1]) : path, what }
}

const apiPath = (path: string): string => {
  const renamed = API_NAMES.find(([, file]) => path === file || path.startsWith(`${file}/`))
  return renamed ? path.replace(renamed[1], renamed[0]) : path
}

const labelOf = (entry: unknown, index: number): string => {
  const id = typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined
  return Number.isInteger(id) ? `product ${id}` : `product no. ${index + 1}`
}

const undefinedNames = ({ category, sub_category }: ProductDocument, defined: CategoryNames): Fault[] => {
  const faults: Fault[] = []
  if (!defined.categories.has(category)) {
    faults.push({ path: '/category', what: `no category is called ${category}: define it under categories` })
  }
  if (!defined.subcategories.has(sub_category)) {
    faults.push({
      path: '/sub_category',
      what: `no subcategory is called ${sub_category}: define it under subcategories`,
    })
  }
  return faults
}

interface Parsed {
  /** None of them checked yet. */
  entries: readonly unknown[]
  /** Where they stand in the file. */
  list: readonly string[]
  own: Pick<CatalogRows, 'categories' | 'subcategories'>
  /** What is wrong around them. */
  problems: string[]
}

const parse = (text: string, known: CategoryNames): Parsed => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CatalogFault([`not JSON: ${error instanceof Error ? error.message : String(error)}`])
  }
  if (Array.isArray(value)) return { entries: value, list: [], own: namedBy(value, known), problems: [] }
  const isDocument = TypeCompiler.Compile(UncheckedDocument)
  const list = ['products']
  if (isDocument.Check(value)) {
    const namesOf = (entries: readonly { name: string }[] = []) => entries.map(({ name }) => name)
    const own = ownOf(namesOf(value.categories), namesOf(value.subcategories), known)
    return { entries: value.products, list, own, problems: unwritable(own) }
  }
  const entries = typeof value === 'object' && value !== null && 'products' in value ? value.products : []
  const problems = schemaFaults(isDocument, value).map(({ path, what }) => `${path || '/'}: ${what}`)
  return { entries: Array.isArray(entries) ? entries : [], list, own: namedBy([], known), problems }
}

/** In the API's own shape a category is defined by being named. */
const namedBy = (entries: readonly unknown[], known: CategoryNames): Parsed['own'] => {
  const named = (member: string) =>
    entries.flatMap((entry) => {
      const name = typeof entry === 'object' && entry !== null ? Reflect.get(entry, member) : undefined
      return typeof name === 'string' && isWritable(name) ? [name] : []
    })
  return ownOf(named('category'), named('sub_category'), known)
}

const ownOf = (
  categories: readonly string[],
  subcategories: readonly string[],
  known: CategoryNames,
): Parsed['own'] => ({
  categories: [...new Set(categories)].filter((name) => !known.categories.has(name)),
  subcategories: [...new Set(subcategories)].filter((name) => !known.subcategories.has(name)),
})

const UNWRITABLE = 'a text must not hold NUL or half a surrogate pair'

const unwritable = (own: Parsed['own']): string[] =>
  Object.entries(own).flatMap(([list, names]) => (names.every(isWritable) ? [] : [`/${list}: ${UNWRITABLE}`]))

/** The first problem of each place. */
const schemaFaults = <Schema extends TSchema>(check: TypeCheck<Schema>, value: unknown): Fault[] => {
  const faults = new Map<string, Fault>()
  for (const { path, message, type, schema } of check.Errors(value)) {
    const what = type === ValueErrorType.StringPattern ? `must be ${schema.description}` : message
    if (!faults.has(path)) faults.set(path, { path, what })
  }
  return [...faults.values()]
}

const problemsOf = (entry: ProductDocument, reference: Reference): Fault[] => {
  const problems: Fault[] = Object.entries(entry)
    .filter(([, value]) => !isWritable(value))
    .map(([field]) => ({ path: `/${field}`, what: UNWRITABLE }))
  const wrong = (path: string, what: string) => problems.push({ path, what })
  if (entry.image_url !== undefined && !URL.canParse(entry.image_url)) wrong('/image_url', 'is no address')
  if (!reference.findCountryByAlpha3(entry.country)) wrong('/country', `no country has the code ${entry.country}`)
  const currency = reference.findCurrencyByCode(entry.currency)
  if (!currency) {
    wrong('/currency', `no circulating currency has the code ${entry.currency}`)
    return problems
  }
  const amount = (place: string, value: number): void => {
    if (toMinor(value, currency.precision) === undefined) {
      wrong(place, `${entry.currency} has ${currency.precision} decimals, ${value} has more`)
    }
  }
  const percent = (place: string, value: number): void => {
    if (toBasisPoints(value) === undefined) wrong(place, `a percentage has at most two decimals, ${value} has more`)
  }
  percent('/gst_percent', entry.gst_percent)
  percent('/handling_fee/percent', entry.handling_fee.percent)
  amount('/handling_fee/fixed', entry.handling_fee.fixed)
  entry.denominations.forEach((band, index) => {
    const at = `/denominations/${index}`
    amount(`${at}/min_value`, band.min_value)
    amount(`${at}/max_value`, band.max_value)
    percent(`${at}/discount`, band.discount)
    if (band.max_value < band.min_value) wrong(`${at}/max_value`, `${band.max_value} is below min_value`)
  })
  return problems
}

const isInstant = (deliveryTime: string): boolean => deliveryTime.toLowerCase() === INSTANT

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
    deliveryMode: entry.delivery_mode.toLowerCase() === 'physical' ? 'physical' : 'digital',
    deliveryTime: isInstant(entry.delivery_time) ? INSTANT : entry.delivery_time,
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
export const writeCatalog = (query: Query, reference: Reference): string => {
  const products = [...productRecords(query).values()].map((record) => entryOf(record, reference))
  return `${JSON.stringify({ ...ownCategories(query), products }, null, 2)}\n`
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
