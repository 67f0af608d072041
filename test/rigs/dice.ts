/** Reproducible randomness for rigs: the same seed gives the same values. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number from 0 up to, and without, a limit. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit)
  }

  chance(part: number): boolean {
    return this.#next() < part
  }

  pick<T>(choices: readonly [T, ...T[]] | readonly T[]): T {
    return choices[this.below(choices.length)] as T
  }

  /** Mulberry32. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
