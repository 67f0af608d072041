import fc from 'fast-check'
import { invalid, notFound } from '../expect.ts'
import { countHappenings, fits } from '../happenings.ts'
import type { ClientName } from '../model.ts'
import type { At } from '../play.ts'
import { badPageFields, command, pages, pick, queryOf, which, whoever } from './command.ts'
import { ask } from './sessions.ts'

/** Events (contract C16): each change of an order, a payout or a wallet is published once, to its client alone. */

const LIST = { limitDefault: 20, limitMax: 100 }
const TYPES = [undefined, '*', 'order.*', 'payout.*', 'wallet.*', 'wallet.low', 'order.refunded', 'gift'] as const

interface EventWire {
  id: string
  type: string
  created_at: string
  data: { id?: string | number }
}

const eventsFault = ({ world, client, now, response }: At, filter: string): string | undefined => {
  const events = response.json as EventWire[]
  const count = Number(response.headers.get('x-total-count'))
  const { lo, hi } = countHappenings(world.state, client, filter, now)
  if (count < lo || count > hi) return `${count} events of ${filter}, expected ${lo === hi ? lo : `${lo} to ${hi}`}`
  const { orders, payouts, wallets } = world.state
  const recordsByType = { order: orders, payout: payouts, wallet: wallets }
  for (const { type, data } of events) {
    if (!fits([filter], type)) return `lists ${type}`
    const records: readonly { id: string | number; client: ClientName }[] =
      recordsByType[type.split('.')[0] as keyof typeof recordsByType] ?? []
    if (records.some((record) => record.id === data.id && record.client !== client)) return `${type} of another client`
  }
  return undefined
}

export const eventCommands = [
  command('list the events', ['listEvents', 'getEvent'], 4, {
    args: fc.record({
      who: whoever,
      type: fc.constantFrom(...TYPES),
      page: pages,
      nth: which,
    }),
    run: async (play, { who, type, page, nth }) => {
      const response = await ask(play, who, { operation: 'listEvents', query: queryOf({ type, ...page }) }, (at) => {
        const bad = [...badPageFields(page, LIST), ...(type === 'gift' ? ['type'] : [])]
        return bad.length > 0 ? invalid('structured', bad) : { status: 200, fault: () => eventsFault(at, type ?? '*') }
      })
      if (response.status !== 200) return
      const event = pick(response.json as EventWire[], nth)
      await ask(play, who, { operation: 'getEvent', id: event?.id ?? 'evt_0' }, () =>
        event ? { status: 200, body: event } : notFound('structured', 'Event not found'),
      )
    },
  }),
]
