import { sql } from 'drizzle-orm'
import type { Tx } from '../db/database.ts'
import { countryRow, type ReferenceSeed } from './reference.ts'
import { countries, currencies } from './tables.ts'

/** Updates the rows of an earlier release: ids stay, names may change. */
export const seedReference = (tx: Tx, seed: ReferenceSeed): void => {
  tx.insert(countries)
    .values(seed.countries.map(countryRow))
    .onConflictDoUpdate({
      target: countries.id,
      set: {
        name: sql`excluded.name`,
        officialName: sql`excluded.official_name`,
        alpha2: sql`excluded.alpha_2`,
        alpha3: sql`excluded.alpha_3`,
        numericCode: sql`excluded.numeric_code`,
        dialingPrefix: sql`excluded.dialing_prefix`,
      },
    })
    .run()
  tx.insert(currencies)
    .values([...seed.currencies])
    .onConflictDoUpdate({
      target: currencies.id,
      set: { name: sql`excluded.name`, currency: sql`excluded.currency`, precision: sql`excluded.precision` },
    })
    .run()
}
