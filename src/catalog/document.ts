import { TypeCompiler } from '@sinclair/typebox/compiler'
import categoriesJson from '../../seed/categories.json' with { type: 'text' }
import subcategoriesJson from '../../seed/subcategories.json' with { type: 'text' }
import { type Fault, faultsIn, linesOf, parseDocument, unwritable, withoutByteOrderMark } from '../http/document.ts'
import { FileFault } from '../kernel/problems.ts'
import type { Reference } from '../reference/reference.ts'
import { apiPath, fromApi, problemsOf } from './file-entry.ts'
import { CatalogEnvelope, type ProductDocument, ProductEntry } from './file-schema.ts'
import type { CatalogRows } from './queries.ts'
import { append } from './rows.ts'

/** The catalog file (contract C8): what `--catalog FILE` reads and `scrip catalog` writes. */

/** The lists that define names, and the members of products that use them. */
const MEMBERS = { categories: 'category', subcategories: 'sub_category' } as const
type NameList = keyof typeof MEMBERS
const LISTS = ['categories', 'subcategories'] as const

type Names = Record<NameList, ReadonlySet<string>>

const namesIn = (json: string): ReadonlySet<string> =>
  new Set((JSON.parse(json) as { name: string }[]).map(({ name }) => name))

const known: Names = { categories: namesIn(categoriesJson), subcategories: namesIn(subcategoriesJson) }

/**
 * Reads and checks a catalog file. @throws FileFault with every bad row, at places such as
 * `line 7, product 3, /products/2/currency`
 */
export const readCatalog = (file: string, reference: Reference): CatalogRows => {
  const text = withoutByteOrderMark(file)
  const { entries, list, ownCategories, problems } = parse(text)
  const isOfApi = list.length === 0
  const rows: CatalogRows = { products: [], bands: [], ...ownCategories }
  const defined: Names = {
    categories: known.categories.union(new Set(ownCategories.categories)),
    subcategories: known.subcategories.union(new Set(ownCategories.subcategories)),
  }
  const check = TypeCompiler.Compile(ProductEntry)
  const seen = new Set<number>()
  const placed: { place: string; problem: string }[] = []
  entries.forEach((sent, index) => {
    const entry = isOfApi ? fromApi(sent) : sent
    const faults = faultsIn(check, entry)
    if (faults.length === 0) {
      const product = entry as ProductDocument
      faults.push(...problemsOf(product, reference), ...undefinedNames(product, defined))
      if (seen.has(product.id)) faults.push({ path: '/id', what: `${product.id} is taken by an earlier product` })
      seen.add(product.id)
      if (faults.length === 0) append(rows, product, reference)
    }
    for (const { path, what } of faults) {
      const place = `/${[...list, index].join('/')}${isOfApi ? apiPath(path) : path}`
      placed.push({ place, problem: `${labelOf(sent, index)}, ${place}: ${what}` })
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

const undefinedNames = (product: ProductDocument, defined: Names): Fault[] =>
  LISTS.flatMap((list) => {
    const [member, name] = [MEMBERS[list], product[MEMBERS[list]]]
    const what = `no ${member.replace('_', '')} is called ${name}: define it under ${list}`
    return defined[list].has(name) ? [] : [{ path: `/${member}`, what }]
  })

interface Parsed {
  entries: readonly unknown[]
  /** The path of the list in the file. */
  list: readonly string[]
  ownCategories: Pick<CatalogRows, NameList>
  problems: string[]
}

const parse = (text: string): Parsed => {
  const value = parseDocument('catalog', text)
  // In the API's shape, products define the categories that they name.
  if (Array.isArray(value)) {
    return {
      entries: value,
      list: [],
      ownCategories: ownCategoriesOf((list) => namesAt(value, MEMBERS[list])),
      problems: [],
    }
  }
  const isDocument = TypeCompiler.Compile(CatalogEnvelope)
  const list = ['products']
  if (isDocument.Check(value)) {
    const ownCategories = ownCategoriesOf((name) => namesAt(value[name] ?? [], 'name'))
    return { entries: value.products, list, ownCategories, problems: wordsOf(unwritable(ownCategories)) }
  }
  const entries = typeof value === 'object' && value !== null && 'products' in value ? value.products : []
  const problems = wordsOf(faultsIn(isDocument, value))
  return { entries: Array.isArray(entries) ? entries : [], list, ownCategories: ownCategoriesOf(() => []), problems }
}

const wordsOf = (faults: readonly Fault[]): string[] => faults.map(({ path, what }) => `${path || '/'}: ${what}`)

/** The texts of a member of entries. */
const namesAt = (entries: readonly unknown[], member: string): string[] =>
  entries.flatMap((entry) => {
    const name = typeof entry === 'object' && entry !== null ? Reflect.get(entry, member) : undefined
    return typeof name === 'string' ? [name] : []
  })

const ownCategoriesOf = (namesOf: (list: NameList) => readonly string[]): Parsed['ownCategories'] => {
  const newIn = (list: NameList) => [...new Set(namesOf(list))].filter((name) => !known[list].has(name))
  return { categories: newIn('categories'), subcategories: newIn('subcategories') }
}
