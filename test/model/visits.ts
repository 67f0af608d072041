/**
 * The work that requests cost, counted and not timed, so that a bound on it holds on any machine: how many values the
 * program in this process has looked at through the built-in functions that walk over objects and arrays.
 */

let visited = 0
let isCounting = false

/** How many values were visited since the first call. */
export const visitsSoFar = (): number => {
  if (!isCounting) {
    isCounting = true
    for (const walk of ['keys', 'values', 'entries'] as const) countVisitsOf(walk)
  }
  return visited
}

const countVisitsOf = (walk: 'keys' | 'values' | 'entries'): void => {
  const original = Object[walk] as (value: object) => unknown[]
  const counting = (value: object): unknown[] => {
    const found = original(value)
    visited += found.length
    return found
  }
  Object.defineProperty(Object, walk, { value: counting, configurable: true, writable: true })
}
