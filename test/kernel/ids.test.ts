import { describe, expect, test } from 'bun:test'
import { createCipheriv, createHash } from 'node:crypto'
import fc from 'fast-check'
import { TIME_MAX_MS } from '../../src/kernel/clock.ts'
import { freshSeed, IdSource, type Randomness, SeededRandomness, secureRandomness } from '../../src/kernel/ids.ts'
import { holds } from './property.ts'

const bytesOf = (randomness: Randomness, count: number) => [...randomness.bytes(count)]

describe('seeded randomness', () => {
  test('does not depend on the size of the reads, and continues from any position', () => {
    const stream = bytesOf(new SeededRandomness('a'), 5_000)
    const draws = fc.array(fc.integer({ min: 0, max: 1_500 }), { maxLength: 3 })
    holds(draws, (counts) => {
      const source = new SeededRandomness('a')
      const drawn = counts.flatMap((count) => bytesOf(source, count))
      expect(drawn).toEqual(stream.slice(0, drawn.length))
      expect(source.position).toBe(drawn.length)
      expect(bytesOf(new SeededRandomness('a', source.position), 32)).toEqual(
        stream.slice(drawn.length, drawn.length + 32),
      )
    })
  })

  test('is the AES-256-CTR stream of the digest of its seed, so that no release changes seeded data', () => {
    const stream = createCipheriv('aes-256-ctr', createHash('sha256').update('a').digest(), Buffer.alloc(16))
    expect(bytesOf(new SeededRandomness('a'), 4_096)).toEqual([...stream.update(Buffer.alloc(4_096))])
  })
})

test('secure randomness and fresh seeds do not repeat', () => {
  expect(bytesOf(secureRandomness, 16)).not.toEqual(bytesOf(secureRandomness, 16))
  expect(freshSeed()).toMatch(/^[0-9a-f]{32}$/)
  expect(freshSeed()).not.toBe(freshSeed())
})

describe('public identifiers', () => {
  test('are the prefix and 20 or more characters of [0-9a-z]', () => {
    const source = new IdSource(new SeededRandomness('a'))
    for (const nowMs of [0, Date.UTC(2030, 0, 1), TIME_MAX_MS]) {
      expect(source.next('ben', nowMs)).toMatch(/^ben_[0-9a-z]{20,}$/)
    }
  })

  test('sort by creation, also within a millisecond, to the end of the calendar', () => {
    const steps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10 ** 12 })), { maxLength: 30 })
    holds(fc.tuple(fc.integer({ min: 0, max: TIME_MAX_MS }), steps), ([startMs, waits]) => {
      const source = new IdSource(new SeededRandomness('a'))
      let nowMs = startMs
      const made = [startMs, ...waits].map((waitMs, index) => {
        nowMs = Math.min(TIME_MAX_MS, index === 0 ? startMs : nowMs + waitMs)
        return source.next('ben', nowMs)
      })
      expect(made.toSorted()).toEqual(made)
      expect(new Set(made).size).toBe(made.length)
    })
  })

  test('use all letters with equal probability', () => {
    const letters = new IdSource(new SeededRandomness('a')).letters(36_000)
    expect(letters).toMatch(/^[0-9a-z]{36000}$/)
    const counts = new Map<string, number>()
    for (const letter of letters) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    expect(counts.size).toBe(36)
    for (const count of counts.values()) expect(count).toBeWithin(850, 1_151)
  })
})
