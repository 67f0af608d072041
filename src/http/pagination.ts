import { Type } from '@sinclair/typebox'
import type { Direction, ListPage } from './parameters.ts'

/** The index of the first row of a page. */
export const offsetOf = ({ page, limit }: ListPage): number => Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER)

export const sliceOf = (page: ListPage) => ({ limit: page.limit, offset: offsetOf(page) })

/** The page of a list whose ids sort by creation, the newest first. */
export const newestOf = (page: ListPage) => ({ sort: 'id', direction: 'DESC', ...sliceOf(page) }) as const

/** The page of a list that is sorted by `sort_by` and `sort_order`. */
export const sortedSliceOf = <Field>(query: ListPage & { sort_by: Field; sort_order: Direction }) => ({
  sort: query.sort_by,
  direction: query.sort_order,
  ...sliceOf(query),
})

/** The settings of a response that a page changes. */
interface ResponseSettings {
  headers: Record<string, string>
}

/** Sets the four headers of beneficiaries, payouts and orders (spec 4.1, contract C7), and returns the items of the page. */
export const paged = <Item>(
  { headers }: ResponseSettings,
  { page, limit }: ListPage,
  { entries, totalCount }: { entries: Item[]; totalCount: number },
): Item[] => {
  headers['X-Page'] = String(page)
  headers['X-Per-Page'] = String(limit)
  headers['X-Total-Count'] = String(totalCount)
  headers['X-Total-Pages'] = String(Math.ceil(totalCount / limit))
  return entries
}

/** Sets the six headers of wallets and transactions (spec 4.2, contract C7), and returns the items of the page. */
export const longPaged = <Item>(
  set: ResponseSettings,
  page: ListPage,
  list: { entries: Item[]; totalCount: number },
): Item[] => {
  set.headers['X-Page-Size'] = String(list.entries.length)
  set.headers['X-Has-More'] = String(page.page < Math.ceil(list.totalCount / page.limit))
  return paged(set, page, list)
}

/** The headers of a page, for the documentation. */
export const PAGE_HEADERS = Type.Object({
  'X-Page': Type.Integer({ minimum: 1, description: 'The current page' }),
  'X-Per-Page': Type.Integer({ minimum: 1, description: 'Items per page' }),
  'X-Total-Count': Type.Integer({ minimum: 0, description: 'All items that match' }),
  'X-Total-Pages': Type.Integer({ minimum: 0, description: 'All pages; 0 when nothing matches' }),
})

/** The headers of a page of a long list, which has two more. */
export const LONG_PAGE_HEADERS = Type.Object({
  ...PAGE_HEADERS.properties,
  'X-Page-Size': Type.Integer({ minimum: 0, description: 'Items in this page' }),
  'X-Has-More': Type.Boolean({ description: 'True if more pages exist' }),
})
