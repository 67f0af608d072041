import { describe, expect, test } from 'bun:test'
import { fileOf } from '../catalog/entry.ts'
import { expectResponse, sharedServer, startServer, type TestWorld, testIn } from '../harness.ts'
import { countOf, getPayout, HUNDRED, PAYOUTS, pay, saveGrace } from '../records.ts'
import { movementsOf, walletsOf } from '../wallets/balances.ts'

const server = await sharedServer()
const inWorld = testIn(() => server.world())

const badRequest = (message: string) => ({ error: 'BadRequest', message })
const invalid = (message: string) => ({ error: 'ValidationException', message })

/** A payout that is refused leaves nothing: no payout, no movement, no reservation. */
const expectRefusal = async (world: TestWorld, body: unknown, response: object) => {
  const before = [await walletsOf(world), await movementsOf(world), await countOf(world, PAYOUTS)]
  await expectResponse(world.post(PAYOUTS, body), 400, response)
  expect([await walletsOf(world), await movementsOf(world), await countOf(world, PAYOUTS)]).toEqual(before)
}

const NOBODY = { beneficiary_email: undefined, beneficiary_first_name: undefined, beneficiary_last_name: undefined }

const NULLS = { beneficiary_email: null, beneficiary_first_name: null, beneficiary_last_name: null }
const LARGE = { note: 'x'.repeat(16_384) }
const CURRENCY = 'currency must be the ISO 4217 code of a circulating currency'
const TWO_PAYEES =
  'beneficiary_id cannot be combined with beneficiary_email, beneficiary_first_name, beneficiary_last_name'
const COUNTRY = 'beneficiary_country must be an ISO 3166-1 alpha-2 country code'
const PHONE = 'beneficiary_phone must be a valid phone number including the country code'
const PAYEE_REQUIRED =
  'beneficiary_id is required, or beneficiary_email, beneficiary_first_name and beneficiary_last_name'

describe('an invalid body', () => {
  test.each<[string, object, string]>([
    ['no reference_id', { reference_id: undefined }, 'reference_id is required'],
    ['an empty reference_id', { reference_id: '' }, 'reference_id must be at least 1 character long'],
    ['a long reference_id', { reference_id: 'x'.repeat(256) }, 'reference_id must be at most 255 characters long'],
    ['NUL in reference_id', { reference_id: 'a\0' }, 'reference_id must not contain NUL or half a surrogate pair'],
    ['no amount', { amount: undefined }, 'amount is required'],
    ['an amount of nothing', { amount: 0 }, 'amount must be at least 0.01'],
    ['no yen', { currency: 'JPY', wallet_id: 4, amount: 0 }, 'amount must be at least 1'],
    ['nothing of no currency', { currency: 'XXX', amount: 0 }, `amount must be greater than 0; ${CURRENCY}`],
    ['too much of no currency', { currency: '', amount: 1e21 }, `amount too large; ${CURRENCY}`],
    ['an amount that cannot be exact', { amount: 1e15 }, 'amount too large'],
    ['an amount beyond all', { amount: 1e9 + 1 }, 'amount must be at most 1000000000'],
    ['half a cent', { amount: 0.005 }, 'amount must have at most 2 decimals'],
    ['four decimals of KWD', { currency: 'KWD', amount: 1.0001 }, 'amount must have at most 3 decimals'],
    ['no currency', { currency: undefined }, 'currency is required'],
    ['an unknown currency', { currency: 'XYZ' }, CURRENCY],
    ['an empty currency', { currency: '' }, CURRENCY],
    ['a precious metal as currency', { currency: 'XAU' }, CURRENCY],
    ['nobody to pay', NOBODY, PAYEE_REQUIRED],
    ['nulls to pay', NULLS, PAYEE_REQUIRED],
    ['nobody to pay nothing', { ...NOBODY, amount: 0 }, `amount must be at least 0.01; ${PAYEE_REQUIRED}`],
    [
      'a currency and an e-mail that are missing',
      { currency: 'XXX', beneficiary_email: null },
      `${CURRENCY}; beneficiary_email is required`,
    ],
    [
      'two people, one of them without an address',
      { beneficiary_id: 'ben_x', beneficiary_email: 'ada@' },
      `${TWO_PAYEES}; Invalid beneficiary_email format`,
    ],
    ['no beneficiary_email', { beneficiary_email: undefined }, 'beneficiary_email is required'],
    ['no beneficiary_first_name', { beneficiary_first_name: undefined }, 'beneficiary_first_name is required'],
    [
      'an e-mail alone',
      { ...NOBODY, beneficiary_email: 'ada@example.com' },
      'beneficiary_first_name is required; beneficiary_last_name is required',
    ],
    ['no address as e-mail', { beneficiary_email: 'ada@' }, 'Invalid beneficiary_email format'],
    ['an unknown country', { beneficiary_country: 'XX' }, COUNTRY],
    ['a phone without country code', { beneficiary_phone: '020 7946 0958' }, PHONE],
    ['a number as beneficiary_id', { ...NOBODY, beneficiary_id: 7 }, 'beneficiary_id must be a string'],
    ['identifiers that are a list', { beneficiary_identifiers: [] }, 'beneficiary_identifiers must be an object'],
    [
      'identifiers over 16 KiB',
      { beneficiary_identifiers: LARGE },
      'beneficiary_identifiers must be at most 16 KiB as JSON',
    ],
    ['a long description', { description: 'x'.repeat(1_001) }, 'description must be at most 1000 characters long'],
    ['metadata that is a string', { metadata: 'x' }, 'metadata must be an object'],
    ['metadata over 16 KiB', { metadata: LARGE }, 'metadata must be at most 16 KiB as JSON'],
    ['a word as notify_beneficiary', { notify_beneficiary: 'yes' }, 'notify_beneficiary must be true or false'],
  ])('400 names %s', async (_, change, message) => {
    await expectRefusal(await server.world(), { ...HUNDRED, ...change }, invalid(message))
  })

  test.each([
    ['1e400', 'amount too large'],
    ['-1e400', 'amount must be at least 0'],
    ['1e-7', 'amount must have at most 2 decimals'],
    ['"100"', 'amount must be a number'],
  ])('400 refuses %s as an amount', async (amount, message) => {
    const body = JSON.stringify(HUNDRED).replace('"amount":100', `"amount":${amount}`)
    await expectRefusal(await server.world(), body, invalid(message))
  })

  test('400 names all invalid fields', async () => {
    await expectRefusal(
      await server.world(),
      { ...HUNDRED, reference_id: '', amount: 0, currency: 'XYZ', beneficiary_email: 'ada@' },
      invalid(
        `reference_id must be at least 1 character long; amount must be greater than 0; ${CURRENCY}; Invalid beneficiary_email format`,
      ),
    )
  })

  inWorld('400 refuses a saved beneficiary together with a person', async (world) => {
    const beneficiary_id = await saveGrace(world)
    await expectRefusal(world, { ...HUNDRED, beneficiary_id }, invalid(TWO_PAYEES))
    await expectRefusal(
      world,
      { ...HUNDRED, ...NOBODY, beneficiary_id, beneficiary_email: 'ada@example.com' },
      invalid('beneficiary_id cannot be combined with beneficiary_email'),
    )
  })
})

describe('a payout that is not possible', () => {
  test.each<[string, object, string]>([
    ['an unknown wallet', { wallet_id: 999 }, 'Wallet not found'],
    ["another client's wallet", { wallet_id: 5 }, 'Wallet not found'],
    ['an unknown beneficiary', { ...NOBODY, beneficiary_id: 'ben_00000000000000000000' }, 'Beneficiary not found'],
    ['what is not an id of a beneficiary', { ...NOBODY, beneficiary_id: '' }, 'Beneficiary not found'],
    ['more than the wallet holds', { amount: 100_000 }, 'Insufficient wallet balance'],
    ['more than the wallet holds with the fees', { amount: 98_522.17 + 0.01 }, 'Insufficient wallet balance'],
    ['more than the wallet holds after converting', { currency: 'EUR', amount: 92_000 }, 'Insufficient wallet balance'],
  ])('400 refuses %s, and writes nothing', async (_, change, message) => {
    await expectRefusal(await server.world(), { ...HUNDRED, ...change }, badRequest(message))
  })

  inWorld("400 refuses another client's beneficiary like a missing one", async (world) => {
    const beneficiary_id = await saveGrace(await world.limited())
    await expectRefusal(world, { ...HUNDRED, ...NOBODY, beneficiary_id }, badRequest('Beneficiary not found'))
  })

  test('400 refuses a used reference_id, whatever the status of its payout', async () => {
    const world = await server.world('2030-01-01T00:00:00Z')
    const first = await pay(world)
    const duplicate = badRequest('Duplicate reference_id')
    await expectRefusal(world, HUNDRED, duplicate)
    await expectRefusal(world, { ...HUNDRED, amount: 1, wallet_id: 2, currency: 'EUR' }, duplicate)
    expect((await world.post(`${PAYOUTS}/${first.id}/cancel`)).status).toBe(200)
    await expectRefusal(world, HUNDRED, duplicate)
    expect((await getPayout(world, first.id)).status).toBe('cancelled')
  })

  inWorld('a reference_id is case-sensitive and unique per client', async (world) => {
    await pay(world)
    expect((await pay(world, { ...HUNDRED, reference_id: 'Bonus' })).reference_id).toBe('Bonus')
    expect((await pay(await world.limited(), { ...HUNDRED, wallet_id: 5, amount: 1 })).reference_id).toBe('bonus')
  })

  test("400 refuses an amount that rounds to zero in the wallet's currency", async () => {
    // 0.01 INR are 0.0167 JPY.
    const tiny = { ...HUNDRED, wallet_id: 4, currency: 'INR', amount: 0.01 }
    await expectRefusal(await server.world(), tiny, invalid('amount too small'))
  })

  test('400 names both currencies if there is no rate', async () => {
    await using custom = await startServer('--rates', fileOf({ base: 'USD', rates: { EUR: '0.92' } }))
    const missing = badRequest('No exchange rate found for USD to JPY')
    await expectRefusal(await custom.world(), { ...HUNDRED, wallet_id: 4 }, missing)
  })

  test("400 refuses an amount that cannot be exact in the wallet's currency", async () => {
    await using custom = await startServer('--rates', fileOf({ base: 'USD', rates: { EUR: '20000' } }))
    const world = await custom.world()
    // A thousand million USD are 2 × 10^15 cents of such EUR.
    await expectRefusal(world, { ...HUNDRED, wallet_id: 2, amount: 1e9 }, invalid('amount too large'))
  })
})
