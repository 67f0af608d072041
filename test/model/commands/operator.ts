import fc from 'fast-check'
import { badRequest, faultsIn, isPathId, notFound } from '../expect.ts'
import { happened } from '../happenings.ts'
import type { Order, Payout, World } from '../model.ts'
import type { Expected, Play } from '../play.ts'
import { command, which, worldNames } from './command.ts'
import { someOrder } from './orders.ts'
import { somePayout } from './payouts.ts'

/** Acts of an operator in live mode, performed in a sandbox (contract C15). */

/** Sends a request to the control API about a world, after its due work. */
const present = async (
  play: Play,
  call: Parameters<Play['control']>[0],
  name: string,
  rule: (world: World, now: number) => Expected,
): Promise<void> => {
  const world = play.model.worlds.get(name)
  if (world && world.state.clock.frozenAt === null && paysSaved(world)) await play.freeze(world)
  await play.control(call, name, (world, response) => {
    const now = play.now(world, response.real).lo
    play.model.catchUp(world, now)
    return rule(world, now)
  })
}

/** True if a beneficiary shows the time of a step, which has to be known then. */
const paysSaved = ({ state }: World): boolean =>
  state.payouts.some(({ beneficiary }) => state.beneficiaries.some(({ id }) => id === beneficiary))

const stateFault =
  ({ id, status }: Payout | Order) =>
  ({ json }: { json: unknown }) =>
    faultsIn({ id: [(json as { id: unknown }).id, id], status: [(json as { status: unknown }).status, status] })

const TARGETS = ['queued', 'processing', 'settling', 'action_required', 'completed'] as const

/** Advances a payout to a status, as a trial first: if no steps lead there, it stays unchanged. */
const advanced = (
  play: Play,
  world: World,
  payout: Payout,
  to: (typeof TARGETS)[number] | undefined,
  now: number,
): Expected => {
  if (payout.status === to || !leadsTo(payout, to)) return { status: 400 }
  do {
    if (to === 'action_required' && payout.status === 'settling') {
      payout.status = 'action_required'
      payout.dueAt = null
      happened(world.state, payout.client, 'payout.action_required')
    } else {
      play.model.step(world, payout, now)
    }
  } while (to !== undefined && payout.status !== to)
  return { status: 200, fault: stateFault(payout) }
}

const WAY = ['created', 'queued', 'processing', 'settling', 'completed']
const leadsTo = ({ status }: Payout, to: string | undefined): boolean => {
  if (to === undefined) return status === 'action_required' || WAY.slice(0, -1).includes(status)
  const from = status === 'action_required' ? 2.5 : WAY.indexOf(status)
  if (from < 0 || status === 'completed') return false
  return to === 'action_required' ? from <= 3 : WAY.indexOf(to) > from
}

const onPayout = (
  does: string,
  operation: string,
  rule: (play: Play, world: World, payout: Payout) => Expected,
  body: object = {},
) =>
  command(does, [operation], 3, {
    args: fc.record({ world: worldNames, nth: which, bare: fc.boolean() }),
    run: async (play, { world: name, nth, bare }) => {
      const id = nth === 30 ? 'pyt_0' : await somePayout(play, { world: name, client: 'sandbox' }, nth)
      await present(play, { operation, id, ...(!bare && { body }) }, name, (world) => {
        const payout = world.state.payouts.find((each) => each.id === id)
        return payout ? rule(play, world, payout) : notFound('structured', 'Payout not found')
      })
    },
  })

const hasEnded = ({ status, givenUp }: Order): boolean => givenUp || status === 'DELIVERED'

const onOrder = (
  does: string,
  operation: string,
  member: string,
  rule: (play: Play, world: World, order: Order, sent: number | undefined) => Expected,
) =>
  command(does, [operation], 3, {
    args: fc.record({
      world: worldNames,
      nth: which,
      sent: fc.constantFrom<unknown>(undefined, 1, 2, 100),
      id: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, '0', '77'),
    }),
    run: async (play, { world: name, nth, sent, id: odd }) => {
      const id = odd ?? (await someOrder(play, { world: name, client: 'sandbox' }, nth))
      const body = member === 'quantity' && sent !== undefined ? { quantity: sent } : undefined
      await present(play, { operation, id, body }, name, (world) => {
        if (!isPathId(id)) return badRequest('structured', 'Invalid order ID')
        const order = world.state.orders.find((each) => String(each.id) === id)
        return order ? rule(play, world, order, sent as number | undefined) : notFound('structured', 'Order not found')
      })
    },
  })

const paces = fc.constantFrom<unknown>(undefined, 'auto', 'auto', 'manual', 'manual', 'manual', 'slow', 1)
const isPace = (value: unknown): boolean => value === undefined || value === 'auto' || value === 'manual'

export const operatorCommands = [
  command('set the pace', ['setPace'], 3, {
    args: fc.record({ world: worldNames, pace: fc.record({ payouts: paces, orders: paces }) }),
    run: async (play, { world: name, pace }) => {
      await present(play, { operation: 'setPace', body: pace }, name, (world, now) => {
        if (!isPace(pace.payouts) || !isPace(pace.orders)) return { status: 400 }
        const sent = Object.entries(pace).filter(([, value]) => value !== undefined)
        Object.assign(world.state.pace, Object.fromEntries(sent))
        play.model.repace(world, now)
        return { status: 200, body: world.state.pace }
      })
    },
  }),
  command('advance a payout', ['advancePayout'], 4, {
    args: fc.record({ world: worldNames, nth: which, to: fc.constantFrom(undefined, ...TARGETS, 'refunded' as const) }),
    run: async (play, { world: name, nth, to }) => {
      const id = nth === 30 ? 'pyt_0' : await somePayout(play, { world: name, client: 'sandbox' }, nth)
      await present(
        play,
        { operation: 'advancePayout', id, body: to === undefined ? undefined : { to } },
        name,
        (world, now) => {
          if (to === 'refunded') return { status: 400 }
          const payout = world.state.payouts.find((each) => each.id === id)
          return payout ? advanced(play, world, payout, to, now) : notFound('structured', 'Payout not found')
        },
      )
    },
  }),
  onPayout(
    'fail a payout',
    'failPayout',
    ({ model }, world, payout) => {
      if (payout.status !== 'processing' && payout.status !== 'settling') return { status: 400 }
      model.end(world, payout, 'failed')
      return { status: 200, fault: stateFault(payout) }
    },
    { failure_code: 'account_closed', failure_reason: 'The account is closed' },
  ),
  onPayout('return a payout', 'returnPayout', ({ model }, world, payout) => {
    if (payout.status !== 'completed' || payout.returned) return { status: 400 }
    model.giveBack(world, payout)
    return { status: 200, fault: stateFault(payout) }
  }),
  onOrder('deliver an order', 'deliverOrder', 'quantity', ({ model }, world, order, quantity) => {
    if (hasEnded(order)) return { status: 400 }
    model.deliver(world, order, quantity ?? order.quantity)
    return { status: 200, fault: stateFault(order) }
  }),
  onOrder('fail an order', 'failOrder', 'failure_reason', ({ model }, world, order) => {
    if (hasEnded(order)) return { status: 400 }
    model.giveUp(world, order, 'FAILED')
    return { status: 200, fault: stateFault(order) }
  }),
  onOrder('refund an order', 'refundOrder', 'remarks', ({ model }, world, order) => {
    if (!hasEnded(order) || order.delivered === 0 || order.refunded) return { status: 400 }
    model.refund(world, order)
    return { status: 200, fault: stateFault(order) }
  }),
]
