import fc from 'fast-check'
import { ADA } from '../../records.ts'
import type { Call, Play, ProgramResponse, Rule, Who } from '../play.ts'
import { created } from './beneficiaries.ts'
import { command, worldNames } from './command.ts'
import { keyedRule } from './once.ts'
import { placed } from './orders.ts'
import { paid } from './payouts.ts'
import { logIn } from './sessions.ts'

/** Requests in flight at the same time: in any order, as many succeed as would one by one. */

const counts = fc.integer({ min: 2, max: 6 })

/** Sends requests at once. The model learns of successes first, because they came before the refusals. */
const atOnce = async (play: Play, who: Who, calls: readonly { call: Call; rule: Rule }[]): Promise<void> => {
  if (play.tokenOf(who) === undefined) await logIn(play, who)
  await play.settle()
  const access = play.tokenOf(who)
  const responses = await Promise.all(
    calls.map(async ({ call, rule }) => ({ call, rule, response: await play.send(call, access) })),
  )
  const inOrder = responses.toSorted((a, b) => rankOf(a.response) - rankOf(b.response))
  for (const { call, rule, response } of inOrder) play.judge(call, access, response, rule, 'at once')
}
/** Successes by their ids, replays after their originals, then refusals, those of the rate limit last. */
const rankOf = ({ status, headers, json }: ProgramResponse): number => {
  if (status === 429) return Number.MAX_SAFE_INTEGER
  if (status >= 300) return Number.MAX_SAFE_INTEGER - 1
  if (headers.has('idempotent-replayed')) return Number.MAX_SAFE_INTEGER - 2
  return Number((json as { id: unknown }).id) || 0
}

const times = <Item>(count: number, make: (nth: number) => Item): Item[] =>
  Array.from({ length: count }, (_, nth) => make(nth))
const PAYEE = { beneficiary_email: ADA.email, beneficiary_first_name: 'Ada', beneficiary_last_name: 'Lovelace' }

export const togetherCommands = [
  command('order together', ['placeOrder'], 2, {
    args: fc.record({
      world: worldNames,
      count: counts,
      product_id: fc.constantFrom(1, 2, 5, 9),
      quantity: fc.integer({ min: 1, max: 3 }),
    }),
    run: async (play, { world, count, product_id, quantity }) => {
      const denomination = play.productOf(world, product_id)?.denominations[0]?.min_value ?? 1
      const body = { product_id, denomination, quantity }
      const each = { call: { operation: 'placeOrder', body }, rule: placed(body) }
      await atOnce(
        play,
        { world, client: 'sandbox' },
        times(count, () => each),
      )
    },
  }),
  command('pay together', ['createPayout'], 2, {
    args: fc.record({
      world: worldNames,
      count: counts,
      client: fc.constantFrom('sandbox' as const, 'limited' as const),
      same: fc.boolean(),
    }),
    run: async (play, { world, count, client, same }) => {
      const wallet_id = client === 'limited' ? 5 : 1
      const first = play.freshName('together')
      const calls = times(count, (nth) => {
        const body = { reference_id: same ? first : `${first}-${nth}`, wallet_id, amount: 2, currency: 'USD', ...PAYEE }
        return { call: { operation: 'createPayout', body }, rule: paid(body) }
      })
      await atOnce(play, { world, client }, calls)
    },
  }),
  command('save the same beneficiary together, with one key', ['createBeneficiary'], 2, {
    args: fc.record({ world: worldNames, count: counts }),
    run: async (play, { world, count }) => {
      const key = play.freshName('together')
      const call = { operation: 'createBeneficiary', body: ADA, headers: { 'idempotency-key': key } }
      const rule: Rule = (at) => keyedRule(at, call, key, created(ADA))
      await atOnce(
        play,
        { world, client: 'sandbox' },
        times(count, () => ({ call, rule })),
      )
    },
  }),
  command('read while the world is reset', ['listProducts', 'resetWorld'], 1, {
    args: fc.record({ world: worldNames, count: counts }),
    run: async (play, { world: name, count }) => {
      const who: Who = { world: name, client: 'sandbox' }
      if (play.model.limits !== undefined) return
      if (play.tokenOf(who) === undefined) await logIn(play, who)
      const access = play.tokenOf(who)
      const reset = { operation: 'resetWorld', query: `world=${name}` }
      const calls: Call[] = [
        ...times(count, () => ({ operation: 'listProducts' })),
        reset,
        { operation: 'listWallets' },
      ]
      const responses = await Promise.all(calls.map((call) => play.send(call, call === reset ? undefined : access)))
      play.model.put(name)
      for (const [nth, response] of responses.entries()) {
        const call = calls[nth] ?? reset
        play.compare(call, response, { status: call === reset ? 200 : [200, 401] })
      }
    },
  }),
  command('refresh together, with one token', ['refresh'], 1, {
    args: fc.record({ world: worldNames, count: counts }),
    run: async (play, { world: name, count }) => {
      const who: Who = { world: name, client: 'sandbox' }
      if (play.tokenOf(who) === undefined) return
      const token = play.refreshTokenOf(who)
      const isGood = token && play.model.refresh(token.refresh, (world) => play.now(world))
      if (!token || !isGood) return
      const calls = times(count, () => ({ operation: 'refresh', body: { refresh_token: token.refresh } }))
      const responses = await Promise.all(calls.map((call) => play.send(call)))
      // The second use of the token ends its whole login.
      isGood.revoked = true
      const good = responses.filter(({ status }) => status === 200).length
      if (good !== 1) play.fail(`${good} of ${count} uses of one refresh token succeeded`)
    },
  }),
]
