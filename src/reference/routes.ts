import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { storedOnce } from '../http/stored-response.ts'
import { found } from '../kernel/failure.ts'
import type { Guard } from '../sessions/guard.ts'
import { COUNTRY_NOT_FOUND, CURRENCY_NOT_FOUND } from './errors.ts'
import type { CountrySchema, CurrencySchema } from './operations.ts'
import * as operations from './operations.ts'
import type { Country, Reference } from './reference.ts'

/** Countries (spec 4.4) and currencies (spec 4.5). Errors leave in the structured shape. */

export const referenceRoutes = ({ reference, guard }: { reference: Reference; guard: Guard }) => {
  // These never change while the program runs.
  const countryList = storedOnce(() => reference.countries.map(countryWire))
  const countryResponse = storedOnce((id: number) => countryWire(found(reference.findCountry(id), COUNTRY_NOT_FOUND)))
  const currencyList = storedOnce((): readonly Static<typeof CurrencySchema>[] => reference.currencies)
  const currencyResponse = storedOnce(
    (id): Static<typeof CurrencySchema> => found(reference.findCurrency(id), CURRENCY_NOT_FOUND),
  )

  return new Elysia({ name: 'reference', prefix: '/api/v1' })
    .use(guard.plugin())
    .get('/countries', ({ request }) => countryList().respond(request), operations.listCountries)
    .get('/countries/:id', ({ params, request }) => countryResponse(params.id).respond(request), operations.getCountry)
    .get('/currencies', ({ request }) => currencyList().respond(request), operations.listCurrencies)
    .get(
      '/currencies/:id',
      ({ params, request }) => currencyResponse(params.id).respond(request),
      operations.getCurrency,
    )
}

const countryWire = (country: Country): Static<typeof CountrySchema> => ({
  id: country.id,
  name: country.name,
  official_name: country.officialName,
  alpha_2: country.alpha2,
  alpha_3: country.alpha3,
  numeric_code: country.numericCode,
  dialing_prefix: country.dialingPrefix,
})
