import type { Tx } from '../db/database.ts'
import { newValues } from '../db/prepared.ts'
import type { ReferenceSeed } from './reference.ts'
import { countries, currencies } from './tables.ts'

/** Updates the rows of an earlier release: ids stay, names may change. */
export const seedReference = (tx: Tx, seed: ReferenceSeed): void => {
  const rows = seed.countries.map(({ official_name, alpha_2, alpha_3, numeric_code, dialing_prefix, ...row }) => ({
    ...{ ...row, officialName: official_name, alpha2: alpha_2, alpha3: alpha_3 },
    ...{ numericCode: numeric_code, dialingPrefix: dialing_prefix },
  }))
  tx.insert(countries)
    .values(rows)
    .onConflictDoUpdate({ target: countries.id, set: newValues(countries) })
    .run()
  tx.insert(currencies)
    .values([...seed.currencies])
    .onConflictDoUpdate({ target: currencies.id, set: newValues(currencies) })
    .run()
}
