/** Mistyped words: what a person probably meant. */

/** A typing error or two: with more, most short words would be like one another. */
const EDITS_MAX = 2

/** The known word that is most like a mistyped one; undefined when none is. */
const findSimilar = (word: string, known: Iterable<string>): string | undefined => {
  let best: { name: string; edits: number } | undefined
  for (const name of known) {
    const edits = editsBetween(word.toLowerCase(), name.toLowerCase())
    if (edits <= EDITS_MAX && edits < name.length / 2 && edits < (best?.edits ?? Infinity)) best = { name, edits }
  }
  return best?.name
}

/** A second line for an error: `Did you mean serve?`; empty when no known word is like it. */
export const didYouMean = (word: string, known: Iterable<string>): string => {
  const similar = findSimilar(word, known)
  return similar === undefined ? '' : `\nDid you mean ${similar}?`
}

/** The optimal string alignment distance: letters inserted, left out, replaced, or exchanged with their neighbour. */
const editsBetween = (from: string, to: string): number => {
  if (Math.abs(from.length - to.length) > EDITS_MAX) return Infinity
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      const isExchange = row > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const exchanged = isExchange ? (beforeLast[column - 2] ?? 0) + 1 : Infinity
      current.push(Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, replaced, exchanged))
    }
    beforeLast = last
    last = current
  }
  return last[to.length] ?? 0
}
