import fc from 'fast-check'
import { badRequest, faultsIn, isPathId, memberFaults, notFound } from '../expect.ts'
import { type Product, seededRates } from '../goods.ts'
import type { Terms, World } from '../model.ts'
import type { Expected, Play } from '../play.ts'
import { command, sent, which, worldNames } from './command.ts'

/** Changes that a test makes to a running world: products, rates and clients (contract C15). */

type Sent = Record<string, unknown>

/** Edits a world after its due work; a change drops its held prices. */
const edited = (play: Play, call: Parameters<Play['control']>[0], name: string, rule: (world: World) => Expected) =>
  play.control(call, name, (world, response) => {
    play.model.catchUp(world, play.now(world, response.real).lo)
    const expected = rule(world)
    if (expected.status !== 200) return expected
    world.charges.clear()
    world.state.written = true
    return expected
  })

const PRODUCT_MEMBERS = {
  active: [
    [undefined, true, true, false],
    ['no', 1],
  ],
  max_quantity: [
    [undefined, 2, 40],
    [0, 1.5, '3'],
  ],
  gst_percent: [
    [undefined, 0, 5.5],
    [-1, 101, '5'],
  ],
  stock: [
    [undefined, undefined, 0, 3, 20],
    [-1, 1.5, '3'],
  ],
  handling_fee: [
    [undefined, { percent: 2.5 }, { fixed: 1, percent: 0 }],
    [{ fixed: -1 }, { more: 1 }, 1],
  ],
  denominations: [
    [undefined, [{ min_value: 5, max_value: 50, discount: 3 }]],
    [[], [{ min_value: 5 }], 'none'],
  ],
} as const
const badMembers = (body: Sent, members: Record<string, readonly [readonly unknown[], readonly unknown[]]>): string[] =>
  Object.entries(body).flatMap(([name, value]) => (members[name]?.[1].includes(value) ? [name] : []))

const editProduct = command('change a product', ['editProduct'], 3, {
  args: fc.record({
    world: worldNames,
    id: fc.constantFrom('1', '2', '4', '5', '9', '77777', '0', 'x'),
    body: sent(PRODUCT_MEMBERS),
  }),
  run: async (play, { world: name, id, body: update }) => {
    const product = play.model.products.find((each) => String(each.id) === id)
    // Orders from before there was a stock do not count in a later one, so only a product with a stock gets another.
    const { stock, ...others } = update
    const body: Sent = product?.stock === null && typeof stock === 'number' ? others : update
    await edited(play, { operation: 'editProduct', id, body }, name, (world) => {
      const bad = badMembers(body, PRODUCT_MEMBERS)
      // An unknown member is refused before an invalid id.
      if (!isPathId(id)) return bad.length > 0 ? { status: 400 } : badRequest('structured', 'Invalid product ID')
      if (bad.length > 0) return { status: 400 }
      if (!product) return notFound('structured', 'Product not found')
      const { edits, taken } = world.state
      const present = { ...product, ...edits.get(product.id) }
      const setMembers = Object.entries(body).filter(([, value]) => value !== undefined)
      const change = Object.fromEntries(setMembers) as Partial<Product>
      if (change.handling_fee) change.handling_fee = { ...present.handling_fee, ...change.handling_fee }
      if (typeof change.stock === 'number') change.stock += taken.get(product.id) ?? 0
      edits.set(product.id, { ...edits.get(product.id), ...change })
      const { active, max_quantity, gst_percent, handling_fee, denominations } = { ...present, ...change }
      const said = { id: product.id, active, max_quantity, gst_percent, handling_fee, denominations }
      return { status: 200, fault: ({ json }) => memberFaults(json, said) }
    })
  },
})

const SEEDED = Object.fromEntries([...seededRates].filter(([code]) => code !== 'USD'))
const GOOD_RATES: readonly Record<string, string>[] = [
  SEEDED,
  { ...SEEDED, EUR: '0.5', KES: '130.25' },
  { EUR: '0.92', INR: '80', JPY: '150.00000001', KWD: '0.3' },
  { ...SEEDED, EUR: '0.00000007', INR: '1100000.00000001', KWD: '0.3075' },
]
const BAD_RATES: readonly unknown[] = [
  { base: 'USD', rates: { EUR: '0' } },
  { base: 'USD', rates: { EUR: '-1' } },
  { base: 'USD', rates: { EUR: true } },
  { base: 'USD', rates: { XXX: '1' } },
  { base: 'USD', rates: { EUR: '0.123456789' } },
  { base: 'XXX', rates: {} },
  { base: 'USD' },
  { base: 'USD', rates: {}, more: 1 },
]
const ratesFault = (json: unknown, expected: ReadonlyMap<string, string>): string | undefined => {
  const { base, rates } = json as { base: string; rates: Record<string, string> }
  const numbers = (entries: Iterable<[string, string]>) =>
    Object.fromEntries([...entries].filter(([code]) => code !== 'USD').map(([code, text]) => [code, Number(text)]))
  return faultsIn({ base: [base, 'USD'], rates: [numbers(Object.entries(rates)), numbers(expected)] })
}

const setRates = command('set the rates', ['setRates', 'getRates'], 2, {
  args: fc.record({ world: worldNames, nth: which, bad: fc.nat(3) }),
  run: async (play, { world: name, nth, bad }) => {
    const rates = GOOD_RATES[nth % GOOD_RATES.length] ?? SEEDED
    const body = bad === 0 ? BAD_RATES[nth % BAD_RATES.length] : { base: 'USD', rates }
    await edited(play, { operation: 'setRates', body }, name, ({ state }) => {
      if (bad === 0) return { status: 400 }
      state.rates = new Map([['USD', '1'], ...Object.entries(rates)])
      return { status: 200, fault: ({ json }) => ratesFault(json, state.rates) }
    })
    await play.control({ operation: 'getRates' }, name, ({ state }) => ({
      status: 200,
      fault: ({ json }) => ratesFault(json, state.rates),
    }))
  },
})

const TERMS = {
  max_quantity: [
    [undefined, null, 1, 5],
    [0, 1.5, '1'],
  ],
  discounts: [
    [undefined, undefined, {}, { '1': 7.5 }, { '2': 0, '4': 20 }],
    [{ '0': 5 }, { '1': 101 }, { '77777': 5 }, { '1': 'much' }, { '1': 0.005 }],
  ],
  features: [
    [undefined, {}, { vouchers: true }, { vouchers: false }],
    [{ vouchers: 'no' }, 1],
  ],
} as const

const agree = (terms: Terms, { max_quantity, discounts, features }: Sent): void => {
  if (max_quantity !== undefined) terms.quantityMax = max_quantity as number | null
  for (const [id, percent] of Object.entries((discounts ?? {}) as Record<string, number>)) {
    terms.discounts.set(Number(id), percent)
  }
  const { vouchers } = (features ?? {}) as { vouchers?: boolean }
  if (vouchers !== undefined) terms.vouchers = vouchers
}

const editClient = command('change a client', ['editSandboxClient'], 2, {
  args: fc.record({
    world: worldNames,
    id: fc.constantFrom('1', '2', '99', '0'),
    body: sent(TERMS),
  }),
  run: async (play, { world: name, id, body: update }) => {
    // Without vouchers most scripts would be refused, so the client sandbox keeps the feature.
    const body: Sent = id === '1' ? { ...update, features: undefined } : update
    await edited(play, { operation: 'editSandboxClient', id, body }, name, (world) => {
      if (!isPathId(id)) return badRequest('structured', 'Invalid client ID')
      const terms = world.state.clients.get(Number(id))
      if (badMembers(body, TERMS).length > 0) return { status: terms ? 400 : [400, 404] }
      if (!terms) return notFound('structured', 'Client not found')
      agree(terms, body)
      const discounts = Object.fromEntries([...terms.discounts].filter(([, percent]) => percent > 0))
      const said = { features: { vouchers: terms.vouchers }, max_quantity: terms.quantityMax, discounts }
      return { status: 200, fault: ({ json }) => memberFaults(json, said) }
    })
  },
})

export const editingCommands = [editProduct, setRates, editClient]
