import fc from 'fast-check'
import { DEFAULT } from '../model.ts'
import type { Play, ProgramResponse, Who } from '../play.ts'

/** The input of a command, and its reply from the model. */
interface Doing<Args extends object> {
  args: fc.Arbitrary<Args>
  run: (play: Play, args: Args) => Promise<void>
}

/** A step that a script can take. */
export interface Command extends Doing<object> {
  /** As a script names it. */
  does: string
  /** The operations of the OpenAPI document that it asks for. */
  operations: readonly string[]
  /** Its frequency compared with the other commands. */
  weight: number
}

/** A command, with arguments that only it knows. */
export const command = <Args extends object>(
  does: string,
  operations: readonly string[],
  weight: number,
  doing: Doing<Args>,
): Command => ({ does, operations, weight, ...(doing as unknown as Doing<object>) })

export const worldNames = fc.oneof(
  { weight: 5, arbitrary: fc.constant(DEFAULT) },
  { weight: 2, arbitrary: fc.constant('a') },
  { weight: 1, arbitrary: fc.constant('b') },
)
const clients = fc.oneof(
  { weight: 8, arbitrary: fc.constant('sandbox' as const) },
  { weight: 1, arbitrary: fc.constant('limited' as const) },
)

/** Mostly a client with a valid token; sometimes one with an old token, without one, or with one of nobody. */
export const whoever: fc.Arbitrary<Who> = fc.oneof(
  { weight: 16, arbitrary: fc.record({ world: worldNames, client: clients }) },
  {
    weight: 1,
    arbitrary: fc.record({
      world: worldNames,
      client: clients,
      token: fc.constantFrom('oldest' as const, 'none' as const, 'garbage' as const),
    }),
  },
)

/** Valid and invalid values of the members of a body. */
export type Members = Record<string, readonly [good: readonly unknown[], bad: readonly unknown[]]>

/** A body that is valid, except for one or two members sometimes. */
export const sent = (members: Members): fc.Arbitrary<Record<string, unknown>> => {
  const good = fc.record(valuesOf(members, 0))
  const bad = fc.record(valuesOf(members, 1), { requiredKeys: [] })
  const few = fc.shuffledSubarray(Object.keys(members), { minLength: 1, maxLength: 2 })
  const spoilt = fc.tuple(good, bad, few).map(([well, ill, names]) => {
    const spoilers = names.filter((name) => name in ill).map((name) => [name, ill[name]])
    return { ...well, ...Object.fromEntries(spoilers) }
  })
  return fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: spoilt })
}

/** Parameters of a list: few at a time, and rarely one that is refused. */
export const filters = (members: Members): fc.Arbitrary<Record<string, string | undefined>> => {
  const names = Object.keys(members)
  const some = (which: 0 | 1, maxLength: number) =>
    fc
      .tuple(fc.record(valuesOf(members, which)), fc.shuffledSubarray(names, { maxLength }))
      .map(([all, kept]) => Object.fromEntries(kept.map((name) => [name, all[name] as string])))
  const spoilt = fc.tuple(some(0, 1), some(1, 1)).map(([well, ill]) => ({ ...well, ...ill }))
  return fc.oneof({ weight: 5, arbitrary: some(0, 2) }, { weight: 1, arbitrary: spoilt })
}

const valuesOf = (members: Members, which: 0 | 1): Record<string, fc.Arbitrary<unknown>> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, values]) =>
      values[which].length === 0 ? [] : [[name, fc.constantFrom(...values[which])]],
    ),
  )

/** The index of one of the records that were made before, whatever their number is then. */
export const which = fc.nat(30)
export const pick = <Item>(items: readonly Item[], nth: number): Item | undefined =>
  items[nth % Math.max(1, items.length)]

const BAD_IDS = ['0', '-1', '01', '1.0', 'abc', '2147483648', ' 1', '1e1', '99999999999999999999', '%', 'null']
/** Ids in a path: mostly of existing records. */
export const pathIds = (last: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: last + 2 }).map(String) },
    { weight: 1, arbitrary: fc.constantFrom(...BAD_IDS, '2147483647') },
  )

/** A page of a list: valid, or one of those that are refused (contract C7). */
export interface PageArgs {
  page?: string
  limit?: string
}
const GOOD_PAGES = ['1', '2', '3']
const BAD_NUMBERS = ['0', '-1', 'x', '1.5', '', ' 1', '1e3', '0x10']
export const pages: fc.Arbitrary<PageArgs> = fc.oneof(
  { weight: 10, arbitrary: fc.constant({}) },
  { weight: 6, arbitrary: fc.record({ page: fc.constantFrom(...GOOD_PAGES), limit: fc.constantFrom('1', '2', '5') }) },
  { weight: 1, arbitrary: fc.record({ page: fc.constantFrom(...BAD_NUMBERS) }) },
  { weight: 1, arbitrary: fc.record({ limit: fc.constantFrom(...BAD_NUMBERS, '10001') }) },
)

export interface ListRule {
  limitDefault: number
  limitMax: number
  /** True if the response has X-Page-Size and X-Has-More too. */
  six?: true
}

/** The fields of a page that are refused. */
export const badPageFields = ({ page, limit }: PageArgs, { limitMax }: ListRule): string[] => {
  const isBad = (text: string | undefined, max: number) =>
    text !== undefined && !(/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= max)
  return [...(isBad(page, Number.MAX_SAFE_INTEGER) ? ['page'] : []), ...(isBad(limit, limitMax) ? ['limit'] : [])]
}

export const queryOf = (params: object): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) if (value !== undefined) query.append(name, String(value))
  return query.toString()
}

/** The problem with a page of a list: its headers or, when they are given, its ids and their order. */
export const pageFaults = (
  { headers, json }: ProgramResponse,
  { page = '1', limit }: PageArgs,
  rule: ListRule,
  ids: readonly (number | string)[],
): string | undefined => {
  const size = Number(limit ?? rule.limitDefault)
  const expected = ids.slice((Number(page) - 1) * size, Number(page) * size)
  const pageCount = Math.ceil(ids.length / size)
  const expectedHeaders: Record<string, string> = {
    'x-page': page,
    'x-per-page': String(size),
    'x-total-count': String(ids.length),
    'x-total-pages': String(pageCount),
    ...(rule.six && { 'x-page-size': String(expected.length), 'x-has-more': String(Number(page) < pageCount) }),
  }
  for (const [name, value] of Object.entries(expectedHeaders)) {
    if (headers.get(name) !== value) return `${name} is ${headers.get(name)}, expected ${value}`
  }
  const listed = (json as { id: number | string }[]).map(({ id }) => id)
  return Bun.deepEquals(listed, expected)
    ? undefined
    : `lists ${JSON.stringify(listed)}, expected ${JSON.stringify(expected)}`
}

/** Ids grow with time, and break ties. */
export const byIdDown = <Item extends { id: number | string }>(items: readonly Item[]): (number | string)[] =>
  items.map(({ id }) => id).toSorted((a, b) => (a < b ? 1 : -1))
