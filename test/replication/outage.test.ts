// Runs with --all alone: it takes long.

import { expect, test } from 'bun:test'
import { MINUTE_MS, SECOND_MS } from '../../src/kernel/clock.ts'
import { Outage } from '../../src/kernel/outage.ts'

/** The log while PostgreSQL is away (contract C18). */

const logInto = (lines: string[]) => {
  const write = (message: string): void => void lines.push(message)
  return { info: write, warn: write, error: write }
}
const AWAY = 'the record cannot be used'
const BACK = 'the record can be used again'

test('an outage is a line a minute, and its end is one', () => {
  const lines: string[] = []
  let nowMs = 0
  const outage = new Outage(logInto(lines), { on: AWAY, over: BACK }, () => nowMs)
  const last = (forMs: number): void => {
    for (const endMs = nowMs + forMs; nowMs < endMs; nowMs += SECOND_MS) outage.seen('no answer')
  }
  outage.over()
  last(3 * MINUTE_MS)
  expect(lines).toEqual([AWAY, AWAY, AWAY])
  outage.over()
  outage.over()
  expect(lines.splice(0)).toEqual([AWAY, AWAY, AWAY, BACK])
  last(SECOND_MS)
  expect(lines).toEqual([AWAY])
})
