/** Repeatable chance: the same seed always throws the same sequence. */
export type Dice = {
  /** True in about `percent` of a hundred throws. */
  falls: (percent: number) => boolean
  /** One of the choices, each as likely as the others. */
  pick: <T>(choices: readonly T[]) => T
}

/**
 * Dice that a name seeds.
 *
 * Each product throws its own, so that a new brand in the list leaves the products of all others as they were.
 */
export function diceOf(name: string): Dice {
  let state = fnv1a(name)
  const below = (sides: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    return mix(state) % sides
  }
  return {
    falls: (percent) => below(100) < percent,
    pick: (choices) => {
      const choice = choices[below(choices.length)]
      if (choice === undefined) throw new Error('There is nothing to pick from')
      return choice
    },
  }
}

/** FNV-1a over UTF-16 code units, in 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** The output step of Mulberry32. */
function mix(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1)
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
  return (bits ^ (bits >>> 14)) >>> 0
}
