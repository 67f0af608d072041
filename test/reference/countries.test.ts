import { describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer } from '../harness.ts'
import { digestOf } from './path-ids.ts'

interface Country {
  id: number
  name: string
  official_name: string
  alpha_2: string
  alpha_3: string
  numeric_code: string
  dialing_prefix: string
}

const server = await sharedServer()
const world = await server.world()

const INDIA = {
  id: 105,
  name: 'India',
  official_name: 'Republic of India',
  alpha_2: 'IN',
  alpha_3: 'IND',
  numeric_code: '356',
  dialing_prefix: '+91',
}

const listCountries = async () => await world.read<Country[]>('/api/v1/countries')

describe('GET /api/v1/countries', () => {
  test('200 returns all 249 as an array ordered by id, without pagination', async () => {
    const response = await world.get('/api/v1/countries')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('application/json')
    expect(response.headers.has('x-page')).toBe(false)
    expect(response.headers.has('x-total-count')).toBe(false)
    const countries = (await response.json()) as Country[]
    expect(countries.map(({ id }) => id)).toEqual(Array.from({ length: 249 }, (_, index) => index + 1))
  })

  test.each(['name', 'alpha_2', 'alpha_3', 'numeric_code'] as const)('no two have the same %s', async (field) => {
    const values = (await listCountries()).map((country) => country[field])
    expect(new Set(values).size).toBe(values.length)
  })

  test('ids never change', async () => {
    const pairs = (await listCountries()).map(({ id, alpha_3 }) => `${id} ${alpha_3}`)
    expect(digestOf(pairs)).toBe('a80bda70c0ab818bc4fe71ab7b413d5f273a663f267aa3c9487fbf5a2b33aed0')
  })

  test('keeps numeric codes of three digits, and names in their own script', async () => {
    const byCode = new Map((await listCountries()).map((country) => [country.alpha_2, country]))
    expect(byCode.get('IN')).toEqual(INDIA)
    expect(byCode.get('AF')).toMatchObject({ id: 2, numeric_code: '004', dialing_prefix: '+93' })
    expect(byCode.get('AX')).toMatchObject({ id: 5, name: 'Åland Islands', alpha_3: 'ALA' })
    expect(byCode.get('GB')).toMatchObject({
      id: 80,
      official_name: 'United Kingdom of Great Britain and Northern Ireland',
      dialing_prefix: '+44',
    })
    expect(byCode.get('US')).toMatchObject({ id: 235, alpha_3: 'USA', numeric_code: '840', dialing_prefix: '+1' })
    expect(byCode.get('ZW')).toMatchObject({ id: 249, alpha_3: 'ZWE', numeric_code: '716' })
  })
})

describe('GET /api/v1/countries/{id}', () => {
  test('200 returns the country', async () => {
    await expectResponse(world.get('/api/v1/countries/105'), 200, INDIA)
  })

  test('returns each country as in the list', async () => {
    const countries = await listCountries()
    for (const country of [countries[0], countries[124], countries[248]]) {
      expect(await (await world.get(`/api/v1/countries/${country?.id}`)).json()).toEqual(country)
    }
  })
})
