import { readText } from '../../http/body.ts'
import { parseObject } from '../../http/json.ts'
import type { RequestTarget } from '../../http/request-id.ts'
import { documentedRoute } from '../../http/target.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { World } from '../../worlds/world.ts'

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

/** The writes of one run, and the one whose response is lost. */
export class WriteLog {
  readonly writes: Write[] = []
  /** The write whose response was lost. */
  lost: Write | undefined
  readonly #open = new Map<Request, Write>()
  readonly #numbering: Numbering | undefined
  #onSettled: () => void = () => undefined

  constructor(private readonly loss: Loss | undefined) {
    this.#numbering = loss && new Numbering(loss.byName)
  }

  /** Called before a request is handled. Returns the moment at which its response is to be lost; undefined if it is not. */
  async admitted({ request, route }: RequestTarget, { world, client }: Session): Promise<Loss['when'] | undefined> {
    const body = await readText(request).catch(() => '') // the route refuses an unreadable body
    const write = {
      world,
      client: client.username,
      method: request.method,
      route: documentedRoute(route),
      body,
      isDone: false,
    }
    this.writes.push(write)
    this.#open.set(request, write)
    if (!this.loss || this.#numbering?.keyOf(write) !== this.loss.key) return undefined
    this.lost = write
    return this.loss.when
  }

  ended(request: Request, changedRows: boolean): void {
    const write = this.#open.get(request)
    if (!write) return
    write.isDone = changedRows
    this.#open.delete(request)
    if (this.#open.size === 0) this.#onSettled()
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#onSettled = resolve))
  }
}
