export interface Random {
  chance: (percent: number) => boolean
  pick: <T>(choices: readonly T[]) => T
}

/** Each product has its own seed, so a new brand does not change other products. */
export const randomOf = (name: string): Random => {
  let state = fnv1a(name)
  const below = (sides: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    return mix(state) % sides
  }
  return {
    chance: (percent) => below(100) < percent,
    pick: (choices) => {
      const choice = choices[below(choices.length)]
      if (choice === undefined) throw new Error('There is nothing to pick from')
      return choice
    },
  }
}

/** FNV-1a over UTF-16 code units, in 32 bits. */
const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** The output step of Mulberry32. */
const mix = (state: number): number => {
  let bits = Math.imul(state ^ (state >>> 15), state | 1)
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
  return (bits ^ (bits >>> 14)) >>> 0
}
