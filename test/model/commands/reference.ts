import fc from 'fast-check'
import { badRequest, forbidden, idsOf, isPathId, memberFaults, notFound } from '../expect.ts'
import { categories, countries, currencyIds, subcategories } from '../goods.ts'
import type { Expected } from '../play.ts'
import { buysVouchers } from './catalog.ts'
import { type Command, command, whoever } from './command.ts'
import { ask } from './sessions.ts'

/** Countries, currencies, categories and subcategories (spec 4.3 to 4.5). */

const BAD_IDS = ['0', '-1', '01', '1.0', 'abc', '2147483648', ' 1', '1e1', '99999999999999999999', '%', 'null']
export const pathIds = (last: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: last + 2 }).map(String) },
    { weight: 1, arbitrary: fc.constantFrom(...BAD_IDS, '2147483647') },
  )

const active = (records: readonly { id: number; active: boolean }[]): number[] =>
  records.filter((record) => record.active).map(({ id }) => id)

interface Resource {
  record: string
  list: string
  get: string
  ids: readonly number[]
  /** Needs the vouchers feature. */
  vouchers?: true
}
const RESOURCES: readonly Resource[] = [
  { record: 'country', list: 'listCountries', get: 'getCountry', ids: countries.map(({ id }) => id) },
  { record: 'currency', list: 'listCurrencies', get: 'getCurrency', ids: currencyIds },
  { record: 'category', list: 'listCategories', get: 'getCategory', ids: active(categories), vouchers: true },
  {
    record: 'subcategory',
    list: 'listSubcategories',
    get: 'getSubcategory',
    ids: active(subcategories),
    vouchers: true,
  },
]
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const listing = ({ record, list, ids, vouchers }: Resource): Command =>
  command(`list each ${record}`, [list], 1, {
    args: fc.record({ who: whoever }),
    run: async (play, { who }) => {
      await ask(play, who, { operation: list }, (at) =>
        vouchers && !buysVouchers(at)
          ? forbidden
          : {
              status: 200,
              fault: (response) =>
                Bun.deepEquals([...idsOf(response)].sort(), [...ids].sort())
                  ? undefined
                  : 'lists other records than there are',
            },
      )
    },
  })

const getting = ({ record, get, ids, vouchers }: Resource): Command =>
  command(`get a ${record}`, [get], 1, {
    args: fc.record({ who: whoever, id: pathIds(Math.max(...ids)) }),
    run: async (play, { who, id }) => {
      await ask(play, who, { operation: get, id }, (at): Expected => {
        if (vouchers && !buysVouchers(at)) return forbidden
        if (!isPathId(id)) return badRequest('structured', `Invalid ${record} ID`)
        if (!ids.includes(Number(id))) return notFound('structured', `${capital(record)} not found`)
        return { status: 200, fault: ({ json }) => memberFaults(json, { id: Number(id) }) }
      })
    },
  })

export const referenceCommands = RESOURCES.flatMap((resource) => [listing(resource), getting(resource)])
