import fc from 'fast-check'
import type { Shape } from '../checks.ts'
import { invalid } from '../expect.ts'
import type { At, Call, Expected, Who } from '../play.ts'
import {
  badPageFields,
  type Command,
  command,
  filters,
  type ListRule,
  type Members,
  type PageArgs,
  pageFaults,
  pages,
  queryOf,
  whoever,
} from './command.ts'
import { ask } from './sessions.ts'

/** Commands of one request: the request, and the model's expectation. */

type Arbitraries<Args> = { [Name in keyof Args]: fc.Arbitrary<Args[Name]> }
type Sent = Omit<Call, 'operation'>

/** A client asks the API. */
export const request = <Args extends object>(
  does: string,
  operation: string,
  weight: number,
  args: Arbitraries<Args>,
  sent: (args: Args) => Sent,
  rule: (at: At, args: Args) => Expected,
): Command =>
  command<Args & { who: Who }>(does, [operation], weight, {
    args: fc.record({ who: whoever, ...args }) as unknown as fc.Arbitrary<Args & { who: Who }>,
    run: async (play, values) =>
      void (await ask(play, values.who, { operation, ...sent(values) }, (at) => rule(at, values))),
  })

type Filter = Record<string, string | undefined>

interface Listing {
  shape: Shape
  page: ListRule
  filters?: Members
  /** A refusal that comes before the parameters are checked. */
  refusal?: (at: At) => Expected | undefined
  /** The items of the list, in its order. */
  ids?: (at: At, filter: Filter) => readonly (number | string)[]
  /** Returns any other problem with the list. */
  fault?: (at: At, filter: Filter) => string | undefined
}

/** A client requests a list. Its pages, filters and refusals are those of all lists (contract C7). */
export const listing = (does: string, operation: string, { shape, page: rule, ...list }: Listing): Command => {
  const members = list.filters ?? {}
  return request<{ page: PageArgs; filter: Filter }>(
    does,
    operation,
    3,
    { page: pages, filter: list.filters ? filters(members) : fc.constant({}) },
    ({ page, filter }) => ({ query: queryOf({ ...page, ...filter }) }),
    (at, { page, filter }) => {
      const refusal = list.refusal?.(at)
      if (refusal) return refusal
      const badFilters = Object.keys(filter).filter((name) => members[name]?.[1].includes(filter[name]))
      const bad = [...badPageFields(page, rule), ...badFilters]
      if (bad.length > 0) return invalid(shape, bad)
      const ids = list.ids?.(at, filter)
      return {
        status: 200,
        fault: (response) => list.fault?.(at, filter) ?? (ids && pageFaults(response, page, rule, ids)),
      }
    },
  )
}
