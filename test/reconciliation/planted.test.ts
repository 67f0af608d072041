// Runs in process alone: it reads data that no response shows.

import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { amountOf, booksOf, csvOf, type Entry, emptyYear, jsonLinesOf, reconcile } from './year.ts'

/** Mistakes that were planted by chance in a copy of a year's books are all named, and nothing else is (contract C19). */

const WORLDS = 200
const YEAR_MS = Date.UTC(2026, 0)
const MONTH = { sinceMs: Date.UTC(2026, 1), untilMs: Date.UTC(2026, 2) }

/** Whole numbers below a bound, the same for a world in every run. */
const chanceOf = (world: number) => {
  let drawn = 0
  return (below: number): number => createHash('sha256').update(`${world} ${drawn++}`).digest().readUInt32LE() % below
}
type Chance = ReturnType<typeof chanceOf>

const STATUSES = {
  order: ['PENDING', 'DELIVERED', 'DELIVERED', 'PARTIALLY_DELIVERED', 'FAILED', 'CANCELLED'],
  payout: ['created', 'settling', 'completed', 'completed', 'failed', 'cancelled', 'expired', 'returned'],
} as const
const ENDED = new Set(['FAILED', 'CANCELLED', 'failed', 'cancelled', 'expired', 'returned'])

const yearOf = (chance: Chance): Entry[] =>
  Array.from({ length: 20 + chance(120) }, (_, index) => {
    const type = chance(3) === 0 ? 'payout' : 'order'
    return {
      type,
      // Names that sort in another order, and one that is used in both types.
      reference: `${'zyxab"c,d'.charAt(chance(9))}-${Math.floor(index / (1 + (index % 2)))}-${index}`,
      minor: 1 + chance(1_000_000),
      currency: (['USD', 'EUR', 'JPY'] as const)[chance(3)] ?? 'USD',
      status: STATUSES[type][chance(STATUSES[type].length)] ?? '',
      // A movement a second at most, so that there is a first one.
      atMs: YEAR_MS + Math.floor((index * 365 * 86_400_000) / 150) + chance(1_000),
    } satisfies Entry
  })

type Named = Record<'only_ours' | 'only_theirs' | 'differs' | 'counted_twice', string[]>

const nameOf = ({ type, reference }: Pick<Entry, 'type' | 'reference'>): string => `${type} ${reference}`

/** A copy of the books with mistakes, each in another record, and the expected differences. */
const withMistakes = (books: readonly Entry[], chance: Chance) => {
  const named: Named = { only_ours: [], only_theirs: [], differs: [], counted_twice: [] }
  const partings: [atMs: number, name: string][] = []
  const list: Entry[] = []
  books.forEach((entry, index) => {
    const isEnded = ENDED.has(entry.status)
    const part = (other: Entry = entry): void => {
      if (!isEnded) partings.push([other.atMs, nameOf(other)])
    }
    switch (chance(12)) {
      case 0: // lost
        if (!isEnded) named.only_ours.push(nameOf(entry))
        part()
        return
      case 1: {
        // doubled, somewhere behind
        list.push(entry, entry)
        named.counted_twice.push(nameOf(entry))
        part()
        return
      }
      case 2: // wrong cents
        list.push({ ...entry, minor: entry.minor + 1 + chance(99) })
        named.differs.push(`${nameOf(entry)} amount`)
        part()
        return
      case 3: {
        // another currency, in which the figure is the same
        const currency = entry.currency === 'EUR' ? 'USD' : 'EUR'
        const minor = entry.currency === 'JPY' ? entry.minor * 100 : entry.minor
        list.push({ ...entry, currency, minor })
        named.differs.push(`${nameOf(entry)} currency`)
        partings.push([entry.atMs, nameOf(entry)])
        return
      }
      case 4: {
        // a record that nobody made
        const foreign = { ...entry, reference: `${entry.reference}-${index}-x`, status: 'delivered' }
        list.push(entry, foreign)
        named.only_theirs.push(nameOf(foreign))
        partings.push([entry.atMs, nameOf(foreign)])
        return
      }
      case 5: // another day, which is not a difference
        list.push({ ...entry, atMs: entry.atMs + (1 + chance(5)) * 86_400_000 })
        return
      default:
        list.push(chance(2) === 0 ? entry : { ...entry, status: entry.status.toUpperCase() })
    }
  })
  // The order of a list is its own.
  const shuffled = list.map((entry) => [chance(1_000_000), entry] as const).sort(([one], [other]) => one - other)
  return { list: shuffled.map(([, entry]) => entry), named, partings }
}

const sorted = (names: string[]): string[] => names.toSorted()
const image = await emptyYear()

test.each(Array.from({ length: WORLDS }, (_, world) => world))('world %d', (world) => {
  const chance = chanceOf(world)
  const books = yearOf(chance)
  const { list, named, partings } = withMistakes(books, chance)
  const text = world % 2 === 0 ? csvOf(list) : jsonLinesOf(list)
  const database = booksOf(image, books)
  const found = reconcile(database, text)
  if ('problems' in found) throw new Error(JSON.stringify(found.problems))
  expect({
    only_ours: sorted(found.only_ours.map(nameOf)),
    only_theirs: sorted(found.only_theirs.map(nameOf)),
    differs: sorted(found.differs.map((one) => `${nameOf(one)} ${one.members.join(' ')}`)),
    counted_twice: sorted(found.counted_twice.map(nameOf)),
  }).toEqual({
    only_ours: sorted(named.only_ours),
    only_theirs: sorted(named.only_theirs),
    differs: sorted(named.differs),
    counted_twice: sorted(named.counted_twice),
  })
  const agrees = Object.values(named).every(({ length }) => length === 0)
  expect(found.agrees).toBe(agrees)
  expect(found.matched).toBe(new Set(list.map(nameOf)).size - named.only_theirs.length - named.differs.length)
  const [first] = partings.toSorted(([one], [other]) => one - other)
  expect(found.parts_at ? nameOf(found.parts_at) : undefined).toBe(first?.[1])
  database.close()
})

test('a copy without mistakes agrees, and shifted days show where the month is asked for', () => {
  const books = yearOf(chanceOf(1))
  const agreeing = booksOf(image, books)
  expect(reconcile(agreeing, csvOf(books))).toMatchObject({ agrees: true, matched: books.length, parts_at: null })
  agreeing.close()
  const monthly = books.filter(
    ({ atMs, status }) => atMs >= MONTH.sinceMs && atMs < MONTH.untilMs && !ENDED.has(status),
  )
  const [shifted] = monthly
  const moved = books.map((one) => (one === shifted ? { ...one, atMs: MONTH.untilMs + 1 } : one))
  const database = booksOf(image, books)
  const found = reconcile(database, csvOf(moved), MONTH)
  expect(found).toMatchObject({
    only_ours: [{ reference: shifted?.reference }],
    only_theirs: [],
    differs: [],
    counted_twice: [],
  })
  database.close()
})

test('the sums after the first movement at which they differ', () => {
  const entry = (index: number, minor: number): Entry => ({
    ...{ type: 'order', reference: `r-${index}`, minor, currency: 'USD', status: 'DELIVERED', atMs: YEAR_MS + index },
  })
  const books = [entry(1, 1_000), entry(2, 2_000), entry(3, 4_000)]
  const database = booksOf(image, books)
  const list = books.map((one, index) => (index === 0 ? one : { ...one, minor: one.minor + 1 }))
  expect(amountOf(entry(1, 1_000))).toBe('10.00')
  expect(reconcile(database, csvOf(list.toReversed()))).toMatchObject({
    parts_at: {
      reference: 'r-2',
      type: 'order',
      currency: 'USD',
      at: '2026-01-01T00:00:00.002Z',
      ours: 30,
      theirs: 30.01,
    },
  })
  database.close()
})

test('of two movements of one moment the one with the smaller id is first, and the sums are those after it', () => {
  const books = ['b', 'a'].map(
    (reference): Entry => ({
      ...{ type: 'order', reference, minor: 1_000, currency: 'USD', status: 'DELIVERED', atMs: YEAR_MS },
    }),
  )
  const database = booksOf(image, books)
  const list = books.map((one) => ({ ...one, minor: one.minor + 1 }))
  expect(reconcile(database, csvOf(list))).toMatchObject({ parts_at: { reference: 'b', ours: 10, theirs: 10.01 } })
  database.close()
})
