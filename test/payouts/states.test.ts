// Runs in process alone: it reads data that no response shows.

import { describe, expect, test } from 'bun:test'
import { DAY_MS } from '../../src/kernel/clock.ts'
import { DomainError } from '../../src/kernel/failure.ts'
import { applyEvent } from '../../src/payouts/progress.ts'
import { findPayout } from '../../src/payouts/queries.ts'
import { canHappen, type PayoutEventType, TRANSITIONS } from '../../src/payouts/states.ts'
import { PAYOUT_STATUSES, type Payout, type PayoutStatus } from '../../src/payouts/tables.ts'
import { pace } from '../../src/sandbox/worlds/movable-clock.ts'
import type { World } from '../../src/work/world.ts'
import { forFile, found, openProgram, type TestWorld } from '../harness.ts'
import { getPayout, HUNDRED, pay, START, saveGrace } from '../records.ts'
import { balanceOf, movementsOf } from '../wallets/balances.ts'
import { expectSoundBooks, lastEntryOf, linesSince } from '../wallets/books.ts'

/** The state machine of payouts (contract C13), each event from each state, with its ledger entry. */

const program = forFile(openProgram())

const START_MS = Date.parse(START)
const EVENTS = Object.keys(TRANSITIONS) as PayoutEventType[]

const rowOf = (world: World, id: string): Payout => found(findPayout(world.db.query, 1, id))
/** Payouts advance with the clock, or stay. */
const moving = (byClock = true) => ({ reference: program.deps.reference, byClock: () => byClock })
interface Said {
  message?: string
  failureCode?: string
  failureReason?: string
}
/** Applies events, a tenth of a second apart. */
const go = async (world: World, id: string, events: readonly PayoutEventType[], said: Said = {}, byClock = true) => {
  for (const event of events) {
    const row = rowOf(world, id)
    const lastMs = Math.max(row.createdAtMs, world.clock.nowMs())
    await world.db.write((tx) =>
      applyEvent(tx, moving(byClock), world, row, event, { actorType: 'operator', nowMs: lastMs, ...said }),
    )
  }
}
const opened = async (body: object = HUNDRED) => {
  const { client, world } = await program.open(START)
  const { id } = await pay(client, body)
  return { client, world, id }
}
const accountsOf = (world: World, since: number) =>
  linesSince(world.db.sqlite, since).map(
    ({ source, account, currency, amount }) => `${source}: ${account} ${currency} ${amount}`,
  )

/** Every state that a payout can be in, submitted and returned ones apart, and the events that lead there. */
const STATES = {
  created: [],
  queued: ['queued'],
  processing: ['queued', 'processing'],
  'processing, submitted': ['queued', 'processing', 'submitted'],
  settling: ['queued', 'processing', 'submitted', 'settling'],
  action_required: ['queued', 'processing', 'submitted', 'settling', 'action_required'],
  'settling again': ['queued', 'processing', 'submitted', 'settling', 'action_required', 'resumed'],
  completed: ['queued', 'processing', 'submitted', 'settling', 'completed'],
  'completed, returned': ['queued', 'processing', 'submitted', 'settling', 'completed', 'returned'],
  failed: ['queued', 'processing', 'failed'],
  cancelled: ['cancelled'],
  expired: ['expired'],
} as const satisfies Record<string, readonly PayoutEventType[]>
type State = keyof typeof STATES

/** The events that can apply in each status, and the status that each leads to: written from the contract. */
const POSSIBLE: Record<State, Partial<Record<PayoutEventType, PayoutStatus>>> = {
  created: { queued: 'queued', cancelled: 'cancelled', expired: 'expired' },
  queued: { processing: 'processing', cancelled: 'cancelled', expired: 'expired' },
  processing: { submitted: 'processing', failed: 'failed', cancelled: 'cancelled' },
  'processing, submitted': { settling: 'settling', failed: 'failed' },
  settling: { completed: 'completed', failed: 'failed', action_required: 'action_required' },
  action_required: { resumed: 'settling', cancelled: 'cancelled' },
  'settling again': { completed: 'completed', failed: 'failed', action_required: 'action_required' },
  completed: { returned: 'completed' },
  'completed, returned': {},
  failed: {},
  cancelled: {},
  expired: {},
}
const PAID = ['reserved USD -10150', 'payouts USD 10000', 'fees USD 150'].map((line) => `payout: ${line}`)
const REFUNDED = ['wallet USD 10150', 'reserved USD -10150'].map((line) => `refund: ${line}`)
const RETURNED = ['wallet USD 10000', 'payouts USD -10000'].map((line) => `refund: ${line}`)
/** The ledger entry of an event on a payout of 100 USD. */
const WRITTEN: Record<PayoutEventType, readonly string[]> = {
  queued: [],
  processing: [],
  submitted: [],
  settling: [],
  completed: PAID,
  failed: REFUNDED,
  action_required: [],
  resumed: [],
  cancelled: REFUNDED,
  expired: REFUNDED,
  returned: RETURNED,
}
/** The balance of the wallet, and its reserved part. */
const HELD: Record<PayoutStatus, readonly [number, number]> = {
  created: [99_898.5, 101.5],
  queued: [99_898.5, 101.5],
  processing: [99_898.5, 101.5],
  settling: [99_898.5, 101.5],
  action_required: [99_898.5, 101.5],
  completed: [99_898.5, 0],
  failed: [100_000, 0],
  cancelled: [100_000, 0],
  expired: [100_000, 0],
}

test('reaches every status and tries every event', () => {
  const statuses = new Set(Object.keys(STATES).map((state) => state.split(/[, ]/)[0]))
  expect([...statuses].sort()).toEqual([...PAYOUT_STATUSES].sort())
  expect(Object.keys(WRITTEN).sort()).toEqual([...EVENTS].sort())
})

const PAIRS = (Object.keys(STATES) as State[]).flatMap((state) => EVENTS.map((event) => [state, event] as const))

test.each(PAIRS)('%s: %s', async (state, event) => {
  const { client, world, id } = await opened()
  await go(world, id, STATES[state])
  const before = await getPayout(client, id)
  const last = lastEntryOf(world.db.sqlite)
  const to = POSSIBLE[state][event]
  expect(canHappen(event, rowOf(world, id))).toBe(to !== undefined)
  if (to === undefined) {
    await expect(go(world, id, [event])).rejects.toThrow(
      expect.objectContaining({
        constructor: DomainError,
        failure: expect.objectContaining({ message: `Cannot go from ${before.status} to ${event}` }),
      }),
    )
    expect(await getPayout(client, id)).toEqual(before)
    expect(lastEntryOf(world.db.sqlite)).toBe(last)
  } else {
    await go(world, id, [event])
    const after = await getPayout(client, id)
    expect(after.status).toBe(to)
    expect(after.events.slice(0, -1)).toEqual(before.events)
    expect(after.events.at(-1)).toEqual({
      event_type: event,
      from_status: before.status,
      to_status: to,
      actor_type: 'operator',
      message: event === 'failed' ? 'The payout could not be made' : null,
      created_at: '2030-01-01T00:00:00.000Z',
    })
    expect(accountsOf(world, last)).toEqual([...WRITTEN[event]])
    const [amount, reserved] = HELD[to]
    expect(await balanceOf(client, 1)).toEqual({ amount: amount + (event === 'returned' ? 100 : 0), reserved })
  }
  expectSoundBooks(world.db.sqlite)
})

describe('a payout that fails', () => {
  test.each([['processing'], ['processing, submitted'], ['settling']] as const)(
    'from %s has a reason and time, and refunds amount and fees',
    async (state) => {
      const { client, world, id } = await opened()
      await go(world, id, STATES[state])
      await go(world, id, ['failed'], { failureCode: 'account_closed', failureReason: 'The account is closed' })
      const payout = await getPayout(client, id)
      expect(payout).toMatchObject({
        status: 'failed',
        failure_code: 'account_closed',
        failure_reason: 'The account is closed',
        failed_at: '2030-01-01T00:00:00.000Z',
        completed_at: null,
        cancelled_at: null,
      })
      expect(payout.events.at(-1)).toMatchObject({ event_type: 'failed', message: 'The account is closed' })
      expect((await movementsOf(client))[1]).toMatchObject({
        transaction_type: 'CREDIT',
        amount: 101.5,
        source_type: 'refund',
        source_id: id,
        remarks: 'bonus failed',
      })
    },
  )
})

describe('a completed payout that is returned', () => {
  test('is a new CREDIT of the amount without fees, at the original rate, and changes nothing else', async () => {
    const { client, world } = await program.open(START)
    const beneficiary_id = await saveGrace(client)
    const { id } = await pay(client, {
      reference_id: 'bonus',
      wallet_id: 2,
      amount: 100,
      currency: 'USD',
      beneficiary_id,
    })
    await client.clock({ advance: 'PT1M' })
    const completed = await getPayout(client, id)
    const beneficiary = async () => (await client.get(`/api/v1/beneficiaries/${beneficiary_id}`)).json()
    const totals = await beneficiary()
    expect(totals).toMatchObject({ total_payouts: 1, total_amount: 100 })
    const last = lastEntryOf(world.db.sqlite)
    await go(world, id, ['returned'], { message: 'Unknown recipient' })
    const returned = await getPayout(client, id)
    expect(returned).toEqual({
      ...completed,
      events: [
        ...completed.events,
        {
          event_type: 'returned',
          from_status: 'completed',
          to_status: 'completed',
          actor_type: 'operator',
          message: 'Unknown recipient',
          created_at: '2030-01-01T00:01:00.000Z',
        },
      ],
    })
    expect(await beneficiary()).toEqual(totals)
    expect((await movementsOf(client))[1]).toMatchObject({
      wallet_id: 2,
      transaction_type: 'CREDIT',
      amount: 92,
      source_currency: 'USD',
      destination_currency: 'EUR',
      forex_rate: 0.92,
      conversion_charges: 0,
      balance_after: 99_998.15,
      source_type: 'refund',
      source_id: id,
    })
    expect(accountsOf(world, last)).toEqual([
      'refund: wallet EUR 9200',
      'refund: exchange EUR -9200',
      'refund: exchange USD 10000',
      'refund: payouts USD -10000',
    ])
    expectSoundBooks(world.db.sqlite)
  })
})

describe('a payout in two currencies', () => {
  test('settles the full amount in its currency, and keeps fees and conversion', async () => {
    const { world, id } = await opened({ ...HUNDRED, wallet_id: 2 })
    const last = lastEntryOf(world.db.sqlite)
    await go(world, id, STATES.completed)
    // 93.85 EUR were paid: 92 for the amount, 1.38 for the fees, 0.47 for converting.
    expect(accountsOf(world, last)).toEqual([
      'payout: reserved EUR -9385',
      'payout: exchange EUR 9200',
      'payout: exchange USD -10000',
      'payout: payouts USD 10000',
      'payout: fees EUR 138',
      'payout: conversion EUR 47',
    ])
    expectSoundBooks(world.db.sqlite)
  })
})

describe('the clock', () => {
  const moved = async (client: TestWorld, advance: string, id: string) => {
    await client.clock({ advance })
    return getPayout(client, id)
  }

  test('waits while an action is required', async () => {
    const { client, world, id } = await opened()
    await go(world, id, STATES.action_required)
    expect((await moved(client, 'PT10M', id)).status).toBe('action_required')
    await go(world, id, ['resumed'])
    const payout = await getPayout(client, id)
    expect(payout).toMatchObject({ status: 'completed', completed_at: '2030-01-01T00:10:00.000Z' })
    const times = payout.events.map(({ created_at }) => created_at)
    expect(times).toEqual([...times].sort())
    expectSoundBooks(world.db.sqlite)
  })

  test('a payout that was advanced early waits for its next due time', async () => {
    const { client, world, id } = await opened()
    await go(world, id, STATES.processing)
    expect((await moved(client, 'PT2.999S', id)).submitted_at).toBeNull()
    expect((await moved(client, 'PT0.001S', id)).submitted_at).toBe('2030-01-01T00:00:03.000Z')
  })

  test.each([
    ['created', []],
    ['queued', ['queued']],
  ] as const)(
    'at the manual pace, a payout that is %s expires after 7 days and is refunded',
    async (status, events) => {
      const { client, world } = await program.open(START)
      Object.assign(world.of(pace), { payouts: 'manual' })
      const { id } = await pay(client)
      await go(world, id, events, {}, false)
      expect(rowOf(world, id)).toMatchObject({ status, dueEvent: 'expired', dueAtMs: START_MS + 7 * DAY_MS })
      await client.clock({ advance: 'P6DT23H59M59.999S' })
      expect((await getPayout(await client.again(), id)).status).toBe(status)
      await client.clock({ advance: 'PT0.001S' })
      const payout = await getPayout(await client.again(), id)
      expect(payout).toMatchObject({ status: 'expired', failed_at: null, cancelled_at: null, completed_at: null })
      expect(payout.events.at(-1)).toEqual({
        event_type: 'expired',
        from_status: status,
        to_status: 'expired',
        actor_type: 'system',
        message: null,
        created_at: '2030-01-08T00:00:00.000Z',
      })
      expectSoundBooks(world.db.sqlite)
      expect(await balanceOf(await client.again(), 1)).toEqual({ amount: 100_000, reserved: 0 })
    },
  )

  test('does not expire a payout that is processing if the pace is manual', async () => {
    const { client, world } = await program.open(START)
    Object.assign(world.of(pace), { payouts: 'manual' })
    const { id } = await pay(client)
    await go(world, id, STATES.processing, {}, false)
    expect(rowOf(world, id)).toMatchObject({ dueEvent: null, dueAtMs: null })
    await client.clock({ advance: 'P365D' })
    expect((await getPayout(await client.again(), id)).status).toBe('processing')
  })
})
