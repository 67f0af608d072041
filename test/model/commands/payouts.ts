import fc from 'fast-check'
import { PAYEE } from '../../records.ts'
import { amountTrouble, badRequest, faultsIn, invalid, memberFaults, notFound } from '../expect.ts'
import { findCurrency } from '../goods.ts'
import type { ClientName, Payout, World } from '../model.ts'
import { inCurrency, majorOf, minorOf, payoutPrice } from '../money.ts'
import { type At, type Expected, isInSpan, type Play, type Rule, type Who } from '../play.ts'
import { someBeneficiary } from './beneficiaries.ts'
import { isId } from './catalog.ts'
import { byIdDown, command, pick, sent, which, whoever } from './command.ts'
import { keys, once } from './once.ts'
import { badPersonFields, isGoodMetadata, METADATAS, personMembers, personWire } from './people.ts'
import { listing } from './request.ts'
import { ask } from './sessions.ts'

/** Payouts (contract C13). */

const LIST = { limitDefault: 20, limitMax: 100 }
const PERSON = ['beneficiary_email', 'beneficiary_first_name', 'beneficiary_last_name'] as const

export const ownPayouts = (world: World, client: ClientName): Payout[] =>
  world.state.payouts.filter((payout) => payout.client === client)

const AMOUNTS = [
  [1, 10, 0.01, 99.99, 250, 4_000_000.01],
  [0.001, 1_000_000, 1_000_000_000, 1e-7, 0, -1, null, '1', true, [], {}, 1e21],
] as const
const CURRENCIES = [
  ['USD', 'USD', 'EUR', 'INR', 'JPY', 'VND', 'KWD'],
  ['XXX', 'usd', '', null, 1, '\ud800'],
] as const
const PAYOUT_MEMBERS = {
  wallet_id: [
    [1, 1, 2, 3, 4, 6],
    [5, 99, 0, 1.5, -1, null, '1', 2_147_483_648],
  ],
  amount: AMOUNTS,
  currency: CURRENCIES,
  reference_id: [
    ['fresh', 'fresh', 'fresh', 'salary 1', 'salary 2'],
    ['', null, 1, '\ud800', 'x'.repeat(256)],
  ],
  metadata: METADATAS,
  ...personMembers('beneficiary_'),
} as const
const isGoodReference = (value: unknown): boolean =>
  typeof value === 'string' && value.length >= 1 && value.length <= 255 && value.isWellFormed()

const isAmount = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= 1e9
/** An amount is too large only for a currency, and there is none here. */
const isBeyondUnknown = (amount: unknown, currency: unknown): boolean =>
  Number(amount) > 1e9 && !findCurrency(String(currency))

export type PayoutBody = Record<string, unknown>

/** The expected response to the request for a payout (contract C13), refusals first. */
export const paid =
  (body: PayoutBody): Rule =>
  (at): Expected => {
    const { wallet_id, amount, currency, reference_id, beneficiary_id, metadata } = body
    const isSaved = beneficiary_id !== undefined
    const isNamed = PERSON.some((field) => body[field] !== undefined && body[field] !== null)
    const bad = [
      ...(isGoodReference(reference_id) ? [] : ['reference_id']),
      ...(isId(wallet_id) ? [] : ['wallet_id']),
      ...(isAmount(amount) || isBeyondUnknown(amount, currency) ? [] : ['amount']),
      ...(typeof currency === 'string' && findCurrency(currency) ? [] : ['currency']),
      ...(metadata === undefined || metadata === null || isGoodMetadata(metadata) ? [] : ['metadata']),
      ...(isSaved ? [] : isNamed ? badPersonFields(body, 'beneficiary_') : ['beneficiary_id', ...PERSON]),
    ]
    const code = String(currency)
    const minor = bad.length === 0 ? minorOf(amount as number, code) : undefined
    if (bad.length > 0 || minor === undefined || !isId(wallet_id)) {
      return invalid('flat', bad.length > 0 ? bad : ['amount'])
    }
    return payoutOf(at, body, wallet_id, minor, code)
  }

const payoutOf = (at: At, body: PayoutBody, walletId: number, amount: bigint, currency: string): Expected => {
  const { model, world, client } = at
  const wallet = model.wallet(world, client, walletId)
  if (!wallet) return badRequest('flat', 'Wallet not found')
  const saved = world.state.beneficiaries.find((each) => each.id === body.beneficiary_id && each.client === client)
  if (body.beneficiary_id !== undefined && !saved) return badRequest('flat', 'Beneficiary not found')
  if (ownPayouts(world, client).some(({ reference }) => reference === body.reference_id)) {
    return badRequest('flat', 'Duplicate reference_id')
  }
  const price = payoutPrice(world.state.rates, amount, currency, wallet.currency)
  if ('trouble' in price) {
    if (price.trouble === 'no rate')
      return badRequest('flat', `No exchange rate found for ${price.from} to ${price.to}`)
    return amountTrouble('flat', price.trouble)
  }
  if (!model.canPay(wallet, price.paid)) return badRequest('flat', 'Insufficient wallet balance')
  return {
    status: 201,
    fault: () => {
      const wire = at.response.json as { id: string; created_at: string; beneficiary: Record<string, unknown> }
      if (!/^pyt_[0-9a-z]{20,}$/.test(wire.id)) return 'an id in another form'
      if (!isInSpan(at.now, wire.created_at)) return `created_at is not now, ${new Date(at.now.lo).toISOString()}`
      const person = saved ? personOf(saved.wire) : { id: null, ...personWire(body, 'beneficiary_') }
      const payout: Payout = {
        id: wire.id,
        client,
        reference: String(body.reference_id),
        email: String(person.email),
        wallet: walletId,
        currency,
        amount,
        ...price,
        beneficiary: saved?.id ?? null,
        counted: countedIn(at, amount, currency),
        createdAt: Date.parse(wire.created_at),
        status: 'created',
        submitted: false,
        returned: false,
        dueAt: null,
      }
      model.created(world, payout)
      const said = { fees: majorOf(price.fees, currency), total_amount: majorOf(amount + price.fees, currency) }
      return (
        payoutFaults(payout, wire) ??
        memberFaults(wire, { ...said, beneficiary: person, metadata: body.metadata ?? {} })
      )
    },
  }
}

/** In the currency of the default wallet. */
const countedIn = ({ world, client }: At, amount: bigint, currency: string): bigint => {
  const { rates, wallets } = world.state
  const standard = wallets.find((wallet) => wallet.client === client)?.currency ?? currency
  return inCurrency(rates, amount, currency, standard) ?? 0n
}

const personOf = ({ id, email, first_name, last_name, country, phone }: Record<string, unknown>) => ({
  id,
  email,
  first_name,
  last_name,
  country,
  phone,
})

/** The problem with a payout as it is shown now. */
const payoutFaults = (payout: Payout, json: unknown): string | undefined =>
  memberFaults(json, {
    id: payout.id,
    reference_id: payout.reference,
    status: payout.status,
    amount: majorOf(payout.amount, payout.currency),
    currency: payout.currency,
    wallet_id: payout.wallet,
  }) ??
  faultsIn({
    'whether it was submitted': [(json as { submitted_at: unknown }).submitted_at !== null, payout.submitted],
  })

/** A payout of a world, created now if there is none. */
export const somePayout = async (play: Play, who: Who, nth: number): Promise<string> => {
  const all = () => play.model.worlds.get(who.world)?.state.payouts ?? []
  const person = { ...PAYEE }
  const wallet_id = who.client === 'limited' ? 5 : 1
  const body = { reference_id: play.freshName('payout'), wallet_id, amount: 1, currency: 'USD', ...person }
  if (all().length === 0) await ask(play, who, { operation: 'createPayout', body }, paid(body))
  return pick(all(), nth)?.id ?? 'pyt_0'
}
const unknownIds = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('pyt_000000000000000000000000', '1', '%00') },
)

/** Asks for one of the client's payouts. */
const onOwnPayout = (does: string, operation: string, response: (at: At, payout: Payout) => Expected) =>
  command(does, [operation], 3, {
    args: fc.record({ who: whoever, nth: which, unknown: unknownIds }),
    run: async (play, { who, nth, unknown }) => {
      const id = unknown ?? (await somePayout(play, who, nth))
      await ask(play, who, { operation, id }, (at) => {
        const payout = ownPayouts(at.world, at.client).find((each) => each.id === id)
        return payout ? response(at, payout) : notFound('flat', 'Payout not found')
      })
    },
  })

export const payoutCommands = [
  command('pay somebody', ['createPayout'], 12, {
    args: fc.record({ who: whoever, body: sent(PAYOUT_MEMBERS), key: keys }),
    run: (play, { who, body, key }) => {
      // With a key the same body must be able to come again.
      const isFresh = body.reference_id === 'fresh' && key === undefined
      const named = isFresh ? { ...body, reference_id: play.freshName('payout') } : body
      return once(play, who, { operation: 'createPayout', body: named }, key, paid(named))
    },
  }),
  command('pay a saved beneficiary', ['createPayout'], 6, {
    args: fc.record({
      who: whoever,
      nth: which,
      money: sent({ amount: AMOUNTS, currency: CURRENCIES, wallet_id: [[1, 2, 4], [5]] }),
      nobody: fc.nat(12),
    }),
    run: async (play, { who, nth, money, nobody }) => {
      const payee = nobody === 0 ? {} : { beneficiary_id: await someBeneficiary(play, who, nth) }
      const body = { reference_id: play.freshName('payout'), ...money, ...payee }
      await once(play, who, { operation: 'createPayout', body }, undefined, paid(body))
    },
  }),
  listing('list the payouts', 'listPayouts', {
    shape: 'flat',
    page: LIST,
    filters: {
      status: [['created', 'completed', 'FAILED'], ['gone']],
      currency: [['USD', 'EUR'], ['us']],
      search: [['salary', 'ADA', '%'], []],
      sort_order: [['asc', 'desc'], ['up']],
    },
    ids: ({ world, client }, { status, currency, search, sort_order }) => {
      const found = ownPayouts(world, client).filter(
        (payout) =>
          (status === undefined || payout.status === status.toLowerCase()) &&
          (currency === undefined || payout.currency === currency) &&
          (search === undefined ||
            [payout.reference, payout.email].some((text) => text.toLowerCase().includes(search.toLowerCase()))),
      )
      return sort_order === 'asc' ? byIdDown(found).toReversed() : byIdDown(found)
    },
  }),
  onOwnPayout('get a payout', 'getPayout', (_, payout) => ({
    status: 200,
    fault: ({ json }) => payoutFaults(payout, json),
  })),
  onOwnPayout('cancel a payout', 'cancelPayout', ({ model, world }, payout) => {
    if (!model.canCancel(payout)) return badRequest('flat', `Payout cannot be cancelled in status ${payout.status}`)
    model.end(world, payout, 'cancelled')
    return { status: 200, fault: ({ json }) => payoutFaults(payout, json) }
  }),
]
