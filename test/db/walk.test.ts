import { describe, expect, test } from 'bun:test'
import { Walk } from '../../src/db/walk.ts'
import { transactions } from '../../src/wallets/tables.ts'

/** Walks the strides that end at these places, and answers between which times each statement looked. */
const lookedAt = (isUpward: boolean, ends: readonly number[]): [number, number][] => {
  const left = ends.map((at) => [{ at0: at, at1: at }])
  const looked: [number, number][] = []
  const walk = new Walk({
    table: transactions,
    order: [transactions.createdAtMs, transactions.id],
    isUpward,
    along: () => undefined,
    others: () => undefined,
    values: { clientId: 1, from: 100, to: 900 },
    bounds: { least: 'from', most: 'to' },
    statement: (name) => ({
      all: ({ from, to }) => {
        looked.push([Number(from), Number(to)])
        return name.startsWith('boundary') ? (left.shift() ?? []) : []
      },
    }),
  })
  walk.take(() => false)
  expect(walk.isDone).toBe(true)
  return looked
}

describe('the bounds of a walk follow it, so that no stride passes over what came before it', () => {
  test('upward', () => {
    expect(lookedAt(true, [300, 500])).toEqual([
      [100, 900],
      [100, 300],
      [300, 900],
      [300, 500],
      [500, 900],
      [500, 900],
    ])
  })

  test('downward', () => {
    expect(lookedAt(false, [700, 400])).toEqual([
      [100, 900],
      [700, 900],
      [100, 700],
      [400, 700],
      [100, 400],
      [100, 400],
    ])
  })
})
