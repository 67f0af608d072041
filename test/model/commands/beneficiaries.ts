import fc from 'fast-check'
import { faultsIn, invalid, notFound } from '../expect.ts'
import type { Beneficiary, ClientName, World } from '../model.ts'
import { majorOf } from '../money.ts'
import { type At, type Expected, isInSpan, type Play, type Rule, type Who } from '../play.ts'
import { byIdDown, command, pick, sent, which, whoever } from './command.ts'
import { keys, once } from './once.ts'
import { badPersonFields, isGoodMetadata, METADATAS, personMembers, personWire } from './people.ts'
import { listing } from './request.ts'
import { ask } from './sessions.ts'

/** Saved beneficiaries (spec 4.1, contract C10). */

const LIST = { limitDefault: 20, limitMax: 100 }
const ID = /^ben_[0-9a-z]{20,}$/
const UNKNOWN = ['ben_000000000000000000000000', 'pyt_000000000000000000000000', '1', '%00', '__proto__']

const ownOf = (world: World, client: ClientName): Beneficiary[] =>
  world.state.beneficiaries.filter((saved) => saved.client === client)

/** A beneficiary as it is shown now. */
export const beneficiaryWire = ({ state }: World, saved: Beneficiary): Record<string, unknown> => {
  const currency = state.wallets.find(({ client }) => client === saved.client)?.currency ?? 'USD'
  return {
    ...saved.wire,
    total_payouts: saved.payouts,
    total_amount: majorOf(saved.total, currency),
    last_payout_at: saved.lastPayoutAt === null ? null : new Date(saved.lastPayoutAt).toISOString(),
  }
}

type Sent = Record<string, unknown>

export const created =
  (body: Sent): Rule =>
  (at): Expected => {
    const isGood = body.metadata === undefined || body.metadata === null || isGoodMetadata(body.metadata)
    const bad = [...badPersonFields(body), ...(isGood ? [] : ['metadata'])]
    if (bad.length > 0) return invalid('flat', bad)
    return { status: 201, fault: () => savedFault(at, body) }
  }

const savedFault = ({ world, client, now, response }: At, body: Sent): string | undefined => {
  const { id, created_at, ...rest } = response.json as { id: string; created_at: string }
  if (!ID.test(id)) return 'an id in another form'
  if (!isInSpan(now, created_at)) return `created_at is not now, ${new Date(now.lo).toISOString()}`
  const wire = { ...personWire(body), metadata: body.metadata ?? {} }
  const all = { ...wire, total_payouts: 0, total_amount: 0, last_payout_at: null }
  world.state.beneficiaries.push({
    id,
    client,
    wire: { id, created_at, ...wire },
    payouts: 0,
    total: 0n,
    lastPayoutAt: null,
  })
  world.state.written = true
  return faultsIn({ beneficiary: [rest, all] })
}

/** A beneficiary of a world, saved now if there is none; it may be another client's. */
export const someBeneficiary = async (play: Play, who: Who, nth: number): Promise<string> => {
  const all = () => play.model.worlds.get(who.world)?.state.beneficiaries ?? []
  const body = { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' }
  if (all().length === 0) await ask(play, who, { operation: 'createBeneficiary', body }, created(body))
  return pick(all(), nth)?.id ?? 'ben_0'
}

export const beneficiaryCommands = [
  command('save a beneficiary', ['createBeneficiary'], 6, {
    args: fc.record({ who: whoever, body: sent({ ...personMembers(), metadata: METADATAS }), key: keys }),
    run: (play, { who, body, key }) => once(play, who, { operation: 'createBeneficiary', body }, key, created(body)),
  }),
  listing('list the beneficiaries', 'listBeneficiaries', {
    shape: 'flat',
    page: LIST,
    filters: {
      search: [['ada', 'GRACE', 'a@b', '%', '_', ' ', 'zo\u00cb'], []],
      sort_by: [
        ['created_at', 'total_payouts'],
        ['nothing', '__proto__'],
      ],
      sort_order: [['asc', 'DESC'], ['up']],
    },
    fault: ({ world, client, response }, { search }) =>
      listFault(response.json, world, searched(world, client, search)),
    ids: ({ world, client }, filter) => ordered(searched(world, client, filter.search), filter),
  }),
  command('get a beneficiary', ['getBeneficiary'], 3, {
    args: fc.record({
      who: whoever,
      nth: which,
      unknown: fc.constantFrom(undefined, undefined, undefined, ...UNKNOWN),
    }),
    run: async (play, { who, nth, unknown }) => {
      const id = unknown ?? (await someBeneficiary(play, who, nth))
      await ask(play, who, { operation: 'getBeneficiary', id }, ({ world, client }) => {
        const saved = ownOf(world, client).find((each) => each.id === id)
        return saved ? { status: 200, body: beneficiaryWire(world, saved) } : notFound('flat', 'Beneficiary not found')
      })
    },
  }),
  command('delete a beneficiary', ['deleteBeneficiary'], 1, {
    args: fc.record({ who: whoever, nth: which }),
    run: async (play, { who, nth }) => {
      const id = await someBeneficiary(play, who, nth)
      await ask(play, who, { operation: 'deleteBeneficiary', id }, ({ world, client }) => {
        const saved = ownOf(world, client).find((each) => each.id === id)
        if (!saved) return notFound('flat', 'Beneficiary not found')
        world.state.beneficiaries.splice(world.state.beneficiaries.indexOf(saved), 1)
        return { status: 204 }
      })
    },
  }),
]

const searched = (world: World, client: ClientName, search: string | undefined): Beneficiary[] =>
  ownOf(world, client).filter((saved) => fits(saved, search))

const fits = ({ wire }: Beneficiary, search: string | undefined): boolean => {
  const { email, first_name, last_name } = wire as Record<string, string>
  const said = [email, first_name, last_name, `${first_name} ${last_name}`]
  return search === undefined || said.some((text) => text?.toLowerCase().includes(search.toLowerCase()))
}

/** Ties break by id, in the same direction. */
const ordered = (found: readonly Beneficiary[], { sort_by, sort_order }: Record<string, string | undefined>) => {
  const byTime = byIdDown(found)
  if (sort_by !== 'total_payouts') return sort_order === 'asc' ? byTime.toReversed() : byTime
  const payouts = new Map(found.map(({ id, payouts }) => [id as string | number, payouts]))
  const down = byTime.toSorted((a, b) => (payouts.get(b) ?? 0) - (payouts.get(a) ?? 0))
  return sort_order === 'asc' ? down.toReversed() : down
}

const listFault = (json: unknown, world: World, found: readonly Beneficiary[]): string | undefined => {
  const expected = new Map(found.map((saved) => [saved.id, beneficiaryWire(world, saved)]))
  for (const record of json as { id: string }[]) {
    if (!expected.has(record.id)) return `lists ${record.id}, which is not of this client or does not fit`
    const wrong = faultsIn({ [record.id]: [record, expected.get(record.id)] })
    if (wrong) return wrong
  }
  return undefined
}
