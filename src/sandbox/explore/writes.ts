import { parseObject } from '../../http/json.ts'
import type { World } from '../../work/world.ts'

/** Finds the writes of one run of `scrip run --explore` again in the next (decision 49). */

export interface Write {
  /** The world of the write. A reset replaces it by another one with the same name. */
  readonly world: World
  readonly client: string
  readonly method: string
  readonly route: string
  readonly body: string
  /** True if it changed rows: a refusal, a replay and a calculated charge do not. */
  isDone: boolean
}

/** A response is lost before its work, which is then not done, or after its commit. */
export const LOSSES = ['before', 'after'] as const

export interface Loss {
  /** The write, as {@link Numbering} names it. */
  key: string
  when: (typeof LOSSES)[number]
  byName: boolean
}

/** The members that decide how much is bought or paid. References, people and texts may differ between runs. */
const GOODS = ['product_id', 'denomination', 'quantity', 'amount', 'currency']

const goodsOf = (body: string): string => {
  try {
    const sent = parseObject(body)
    return JSON.stringify(GOODS.map((member) => sent[member]))
  } catch {
    return '' // an unreadable body buys nothing
  }
}

/**
 * Gives each write a key. Equal writes are numbered in the order in which they arrive, whatever comes between them. Runs that
 * invent the names of their worlds use keys without names.
 */
export class Numbering {
  readonly #counts = new Map<string, number>()

  constructor(private readonly byName: boolean) {}

  keyOf({ world, client, method, route, body }: Write): string {
    const place = this.byName ? `${world.name} ${client} ` : ''
    const alike = `${place}${method} ${route} ${goodsOf(body)}`
    const number = (this.#counts.get(alike) ?? 0) + 1
    this.#counts.set(alike, number)
    return `${alike} ${number}`
  }
}
