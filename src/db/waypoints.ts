/** The records of one page among all that match, counted from the least: from the first up to, but not, the one after. */
export interface Span {
  first: number
  after: number
  totalCount: number
}

/** A place in an order: so many records stand before it. The ends apart, a record stands there, whose key is known. */
export interface Place {
  rank: number
  /** The columns of the order. */
  key?: readonly (string | number)[]
}

/** How many records stand between a place and a span. */
export const distanceOf = ({ rank }: Place, { first, after }: Span): number =>
  rank <= first ? first - rank : rank - after

/** The end of the order that is nearer. */
export const nearerEnd = (span: Span): Place => nearer({ rank: 0 }, { rank: span.totalCount }, span)

const nearer = (one: Place, other: Place, span: Span): Place =>
  distanceOf(one, span) <= distanceOf(other, span) ? one : other

/** So far apart are the places that are remembered: to pass over as many takes some 30 µs. */
export const APART = 1_000
/** Beyond so many, of one order, all are forgotten: each takes a hundred bytes or so. */
const PLACES_MAX = 2_000

/**
 * Places in one order of one list, for as long as they are the same: a page far from both ends is reached from the
 * nearest of them, so that whoever reads on, page after page, does not begin at the end each time.
 */
export class Waypoints {
  #version: string | undefined
  /** By rank. */
  #places: Place[] = []

  /** The place, among the ends and those that are known, that is nearest to a span in this version of the list. */
  nearest(version: string, span: Span): Place {
    if (version !== this.#version) this.#places = []
    this.#version = version
    const before = this.#places.findLast(({ rank }) => rank <= span.first) ?? { rank: 0 }
    const beyond = this.#places.find(({ rank }) => rank >= span.after) ?? { rank: span.totalCount }
    return nearer(before, beyond, span)
  }

  /** Remembers where a record stands in the version that was last asked about. */
  note(place: Place): void {
    if (this.#places.length >= PLACES_MAX) this.#places = []
    const next = this.#places.findIndex(({ rank }) => rank >= place.rank)
    this.#places.splice(next === -1 ? this.#places.length : next, 0, place)
  }
}
