import type { Row } from '../store.ts'

/** Requests by the world or the test that sent them. */

export const GROUPINGS = { none: 'Not grouped', world: 'By world', test: 'By test' } as const
type Grouping = keyof typeof GROUPINGS

export const isGrouping = (text: string | undefined): text is Grouping =>
  text !== undefined && Object.hasOwn(GROUPINGS, text)

export interface Group {
  key: string
  count: number
  /** Requests that were refused, failed or lost. */
  failures: number
}

export type Item = Row | Group

export const isGroup = (item: Item): item is Group => 'count' in item

/** The test that a request names, otherwise its world. */
const groupOf = (grouping: Grouping, { head, test }: Row): string =>
  (grouping === 'test' ? test : undefined) ?? head.world

/** Each group is followed by its requests, unless it is closed. The group of the newest request comes first. */
export const grouped = (rows: readonly Row[], grouping: Grouping, closed: ReadonlySet<string>): readonly Item[] => {
  if (grouping === 'none') return rows
  return [...Map.groupBy(rows, (row) => groupOf(grouping, row))].flatMap(([key, own]): Item[] => {
    const group = { key, count: own.length, failures: own.filter(isFailure).length }
    return closed.has(key) ? [group] : [group, ...own]
  })
}

const isFailure = ({ head: { response } }: Row): boolean => response.status >= 400 || response.status === 0
