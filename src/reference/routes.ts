import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { storedOnce } from '../http/stored-response.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import { COUNTRY_NOT_FOUND, CURRENCY_NOT_FOUND } from './errors.ts'
import type { CurrencySchema } from './operations.ts'
import * as operations from './operations.ts'
import type { Country, CountryWire, Currency, Reference } from './reference.ts'

/** Countries (spec 4.4) and currencies (spec 4.5). Errors leave in the structured shape. */

export const referenceRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) => {
  // These never change while the program runs.
  const countryList = storedOnce<CountryWire[]>(() => reference.countries.map(countryWire))
  const country = storedOnce<CountryWire>((id) => countryWire(found(reference.findCountry(id), COUNTRY_NOT_FOUND)))
  const currencyList = storedOnce<CurrencyWire[]>(() => reference.currencies.map(currencyWire))
  const currency = storedOnce<CurrencyWire>((id) => currencyWire(found(reference.findCurrency(id), CURRENCY_NOT_FOUND)))

  return new Elysia({ name: 'reference', prefix: '/api/v1' })
    .use(guard.plugin())
    .get('/countries', () => countryList(), operations.listCountries)
    .get('/countries/:id', ({ params }) => country(params.id), operations.getCountry)
    .get('/currencies', () => currencyList(), operations.listCurrencies)
    .get('/currencies/:id', ({ params }) => currency(params.id), operations.getCurrency)
}

type CurrencyWire = Static<typeof CurrencySchema>

const currencyWire = ({ id, name, currency, precision }: Currency): CurrencyWire => ({ id, name, currency, precision })

const countryWire = (country: Country): CountryWire => ({
  id: country.id,
  name: country.name,
  official_name: country.officialName,
  alpha_2: country.alpha2,
  alpha_3: country.alpha3,
  numeric_code: country.numericCode,
  dialing_prefix: country.dialingPrefix,
})
