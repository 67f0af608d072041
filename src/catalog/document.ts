import { TypeCompiler } from '@sinclair/typebox/compiler'
import categoriesJson from '../../seed/categories.json' with { type: 'text' }
import subcategoriesJson from '../../seed/subcategories.json' with { type: 'text' }
import { isWritable } from '../http/validation.ts'
import { FileFault } from '../kernel/problems.ts'
import type { Reference } from '../reference/reference.ts'
import { apiPath, apiReader, fileReader, problemsOf } from './file-entry.ts'
import { CatalogEnvelope, type ProductDocument } from './file-schema.ts'
import { type Fault, linesOf, parseFile, schemaFaults, unwritable, withoutByteOrderMark } from './json-file.ts'
import type { CatalogRows } from './queries.ts'
import { append } from './rows.ts'

/** The catalog file (contract C8): what `--catalog FILE` reads and `scrip catalog` writes. */

interface CategoryNames {
  categories: ReadonlySet<string>
  subcategories: ReadonlySet<string>
}

const namesIn = (json: string): ReadonlySet<string> =>
  new Set((JSON.parse(json) as { name: string }[]).map(({ name }) => name))

const known: CategoryNames = { categories: namesIn(categoriesJson), subcategories: namesIn(subcategoriesJson) }

/**
 * Reads and checks a catalog file. @throws FileFault with every bad row, at places such as
 * `line 7, product 3, /products/2/currency`
 */
export const readCatalog = (file: string, reference: Reference): CatalogRows => {
  const text = withoutByteOrderMark(file)
  const { entries, list, own, problems } = parse(text)
  const rows: CatalogRows = { products: [], bands: [], ...own }
  const isDefined: CategoryNames = {
    categories: new Set([...known.categories, ...own.categories]),
    subcategories: new Set([...known.subcategories, ...own.subcategories]),
  }
  const readEntry = list.length === 0 ? apiReader() : fileReader()
  const seen = new Set<number>()
  const placed: { place: string; problem: string }[] = []
  entries.forEach((entry, index) => {
    const { product, faults } = readEntry(entry)
    if (product) {
      faults.push(...problemsOf(product, reference), ...undefinedNames(product, isDefined))
      if (seen.has(product.id)) faults.push({ path: '/id', what: `${product.id} is taken by an earlier product` })
      seen.add(product.id)
      if (faults.length === 0) append(rows, product, reference)
    }
    for (const { path, what } of faults) {
      const place = `/${[...list, index].join('/')}${list.length === 0 ? apiPath(path) : path}`
      placed.push({ place, problem: `${labelOf(entry, index)}, ${place}: ${what}` })
    }
  })
  if (problems.length + placed.length === 0) return rows
  const places = placed.map(({ place }) => place)
  const lineOf = linesOf(text, places)
  const lines = placed.map(({ place, problem }) => `line ${lineOf(place)}, ${problem}`)
  throw new FileFault('catalog', [...problems, ...lines])
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
  entries: readonly unknown[]
  /** The path of the list in the file. */
  list: readonly string[]
  own: Pick<CatalogRows, 'categories' | 'subcategories'>
  problems: string[]
}

const parse = (text: string): Parsed => {
  const value = parseFile('catalog', text)
  if (Array.isArray(value)) return { entries: value, list: [], own: namedBy(value), problems: [] }
  const isDocument = TypeCompiler.Compile(CatalogEnvelope)
  const list = ['products']
  if (isDocument.Check(value)) {
    const namesOf = (entries: readonly { name: string }[] = []) => entries.map(({ name }) => name)
    const own = ownOf(namesOf(value.categories), namesOf(value.subcategories))
    return { entries: value.products, list, own, problems: wordsOf(unwritable(own)) }
  }
  const entries = typeof value === 'object' && value !== null && 'products' in value ? value.products : []
  const problems = wordsOf(schemaFaults(isDocument, value))
  return { entries: Array.isArray(entries) ? entries : [], list, own: namedBy([]), problems }
}

const wordsOf = (faults: readonly Fault[]): string[] => faults.map(({ path, what }) => `${path || '/'}: ${what}`)

/** In the API's shape, products define the categories that they name. */
const namedBy = (entries: readonly unknown[]): Parsed['own'] => {
  const named = (member: string) =>
    entries.flatMap((entry) => {
      const name = typeof entry === 'object' && entry !== null ? Reflect.get(entry, member) : undefined
      return typeof name === 'string' && isWritable(name) ? [name] : []
    })
  return ownOf(named('category'), named('sub_category'))
}

const ownOf = (categories: readonly string[], subcategories: readonly string[]): Parsed['own'] => ({
  categories: [...new Set(categories)].filter((name) => !known.categories.has(name)),
  subcategories: [...new Set(subcategories)].filter((name) => !known.subcategories.has(name)),
})
