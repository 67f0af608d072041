import { readFileSync } from 'node:fs'
import type { Product } from '../catalog/product.ts'
import { productsById } from '../catalog/queries.ts'
import { UsageError } from '../config/environment.ts'
import { didYouMean } from '../config/suggestion.ts'
import type { Database } from '../db/database.ts'
import { readScenario, withLines } from '../sandbox/scenario/format.ts'
import { firstOf, staged } from '../sandbox/scenario/load.ts'
import { finish, ScenarioFault, type ScenarioSources } from '../sandbox/scenario/loading.ts'
import type { Scenario } from '../sandbox/scenario/schema.ts'
import { SHIPPED } from '../sandbox/scenario/shipped.ts'
import { sealInMemory } from '../sandbox/seed/vouchers.ts'
import { imageWith } from '../sandbox/worlds/state.ts'
import { catalogInMemory, emptyImage } from './memory.ts'
import { initialRatesOf, type Sources } from './origin.ts'

/** What `--scenario` gives: the document that every world begins with (contract C15). */

type Given = Omit<Sources, 'scenario' | 'given' | 'initial'>

/** Products that are read in one query. */
const PRODUCTS_TOGETHER = 500

export const scenarioSourcesOf = (
  { config, reference, rates }: Pick<Given, 'config' | 'reference' | 'rates'>,
  catalog: () => Database,
): ScenarioSources => {
  const seal = sealInMemory(config.voucherKey)
  return {
    reference,
    empty: emptyImage,
    productsOf: (ids) => {
      const products: Product[] = []
      for (let start = 0; start < ids.length; start += PRODUCTS_TOGETHER) {
        products.push(...productsById(catalog().query, reference, ids.slice(start, start + PRODUCTS_TOGETHER)))
      }
      return products
    },
    initialRates: initialRatesOf({ rates, reference }),
    seals: () => seal,
    conversionBasisPoints: config.conversionBasisPoints,
    payoutFeeBasisPoints: config.payoutFeeBasisPoints,
  }
}

/** @throws ScenarioFault, UsageError for a name that there is not, or an error of the file system */
export const readInitialScenario = (given: Given): { document: Scenario; state: Uint8Array } | undefined => {
  const { scenario: name } = given.config
  if (name === undefined) return undefined
  const text = textOf(name)
  try {
    const document = readScenario(text, isJson(name) ? 'json' : 'yaml')
    const sources = scenarioSourcesOf(given, catalogInMemory(given))
    const { database, state } = finish(staged(document, sources, given.clock, firstOf(given.seed)))
    return { document, state: imageWith(database, state) }
  } catch (error) {
    throw error instanceof ScenarioFault ? withLines(error, text) : error
  }
}

/** The name of a file has a dot or a slash; those that come with the program have neither. */
const isFile = (name: string): boolean => /[./\\]/.test(name)

const isJson = (name: string): boolean => name.endsWith('.json')

const textOf = (name: string): string => {
  if (isFile(name)) return readFileSync(name, 'utf8')
  const shipped = SHIPPED.get(name)
  if (shipped) return shipped
  throw new UsageError(
    `unknown scenario '${name}'${didYouMean(name, SHIPPED.keys())}\nTry scrip scenario list, or ./${name} for a file.`,
  )
}
