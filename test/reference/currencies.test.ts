import { describe, expect, test } from 'bun:test'
import { expectResponse, sharedServer } from '../harness.ts'
import { digestOf } from './path-ids.ts'

interface Currency {
  id: number
  name: string
  currency: string
  precision: number
}

const server = await sharedServer()
const world = await server.world()

const listCurrencies = async () => await world.read<Currency[]>('/api/v1/currencies')
const codesWith = async (precision: number) =>
  (await listCurrencies())
    .filter((currency) => currency.precision === precision)
    .map(({ currency }) => currency)
    .sort()

/** Codes of ISO 4217 that nobody pays with: metals, funds, units of account, tests and replaced currencies. */
const NOT_CIRCULATING = [
  ...['XAU', 'XAG', 'XPT', 'XPD'],
  ...['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW'],
  ...['XDR', 'XSU', 'XUA', 'XAD', 'XBA', 'XBB', 'XBC', 'XBD'],
  ...['XTS', 'XXX'],
  ...['ANG', 'BGN', 'CUC', 'DEM', 'FRF', 'HRK', 'LTL', 'SLL', 'VEF', 'ZWL'],
]

describe('GET /api/v1/currencies', () => {
  test('200 returns all circulating currencies as an array ordered by id, without pagination', async () => {
    const response = await world.get('/api/v1/currencies?limit=1')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('application/json')
    expect(response.headers.has('x-page')).toBe(false)
    const currencies = (await response.json()) as Currency[]
    expect(currencies.map(({ id }) => id)).toEqual(Array.from({ length: 155 }, (_, index) => index + 1))
  })

  test('ids never change', async () => {
    const pairs = (await listCurrencies()).map(({ id, currency }) => `${id} ${currency}`)
    expect(digestOf(pairs)).toBe('978b4bf3388fc88fd9b93f8a192db13f8eb4b03002f95ca3153a606eb7a18324')
  })

  test('has no metals, funds, units of account, test codes or replaced currencies', async () => {
    const codes = new Set((await listCurrencies()).map(({ currency }) => currency))
    expect(NOT_CIRCULATING.filter((code) => codes.has(code))).toEqual([])
  })

  test('has 0, 2 or 3 decimals as in ISO 4217', async () => {
    expect(await codesWith(0)).toEqual([
      ...['BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VND', 'VUV', 'XAF', 'XOF'],
      'XPF',
    ])
    expect(await codesWith(3)).toEqual(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'])
    expect(await codesWith(2)).toHaveLength(155 - 16 - 7)
  })
})

describe('GET /api/v1/currencies/{id}', () => {
  test.each([
    [41, 'Euro', 'EUR', 2],
    [58, 'Indian Rupee', 'INR', 2],
    [64, 'Japanese Yen', 'JPY', 0],
    [71, 'Kuwaiti Dinar', 'KWD', 3],
    [139, 'US Dollar', 'USD', 2],
    [149, 'Caribbean Guilder', 'XCG', 2],
  ])('200 returns %d, the %s', async (id, name, currency, precision) => {
    await expectResponse(world.get(`/api/v1/currencies/${id}`), 200, { id, name, currency, precision })
  })
})
