import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { milliseconds } from '../bench/table.ts'
import type { Running } from '../program.ts'
import { ask, Connection } from './connection.ts'
import { type Cost, costOf, nextNumber } from './costs.ts'
import { fill } from './filled.ts'
import { type Options, percentile, type Report, type Rig } from './report.ts'
import { logIn, serve } from './server.ts'
import { type Shape, shapes, type Who } from './shapes.ts'
import { Victims } from './victims.ts'

/**
 * What other clients feel while one client or stranger does the worst thing that he may. The worst is searched for: each
 * shape of request is sent several times at once, and those of each operation that hold up somebody else for longest attack.
 * What a single one costs does not tell, because long work is done in time slices. A round is one such burst. Each attack
 * comes in several passes, with a quiet time before each, and the latencies of all passes count: five slow responses in
 * ten seconds may be the machine's.
 */

/** What others may feel, at p99: what a person would notice. */
const MORE_MS_MAX = 100

interface Form {
  /** Of each kind that the attacking client has. */
  records: number
  /** One shape in so many is measured. */
  step: number
  /** Requests that arrive together in the search. */
  together: Record<Who, number>
  /** Attacks by each kind of attacker. */
  attacks: number
  /** How often each of them comes. */
  passes: number
  /** How long one goes on. */
  seconds: number
  /** A client sends his burst at once; a stranger or the owner of the sandbox asks on so many without a pause. */
  connections: Record<Who, number>
  /** Whether waits are compared: they say something of a longer time only, on a machine that does nothing else. */
  isTimed: boolean
}

/** A client's burst; afterwards his bucket refills at 100 a minute. */
const BURST = 100
const REFILL_MS = 600
const LONG: Form = {
  records: 300_000,
  step: 1,
  together: { client: 20, stranger: 20, sandbox: 4 },
  attacks: 6,
  passes: 3,
  seconds: 10,
  connections: { client: BURST, stranger: 32, sandbox: 4 },
  isTimed: true,
}
const SHORT: Form = {
  records: 500,
  step: 47,
  together: { client: 2, stranger: 2, sandbox: 2 },
  attacks: 1,
  passes: 1,
  seconds: 0.5,
  connections: { client: 4, stranger: 4, sandbox: 2 },
  isTimed: false,
}
const VICTIMS = 10
const VICTIMS_PER_SECOND = 50
const FLAGS = ['--access-ttl', '30d']

export const fairness: Rig = async ({ rounds, isShort, only = '', progress }) => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-rig-'))
  const form = isShort ? SHORT : LONG
  try {
    await fill(folder, form.records)
    const costs = await searched(folder, rounds, form, only, progress)
    return await attacked(folder, costs, form, progress)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What each shape does to others, the worst first. */
const searched = async (
  folder: string,
  rounds: number,
  { step, together }: Form,
  only: string,
  progress: Options['progress'],
): Promise<Cost[]> => {
  const server = await serve(['--data-dir', folder, '--rate-limit', 'off', ...FLAGS])
  await logIn(server.port, 'sbx_attacker')
  const victims = new Victims()
  const tokens = await Promise.all(['sbx_victim-0', 'sbx_victim-1'].map((name) => logIn(server.port, name)))
  const costs: Cost[] = []
  for (const [index, shape] of shapes().entries()) {
    if (index % step !== 0 || !shape.name.includes(only)) continue
    const search = { rounds, together: together[shape.who], victims, tokens }
    const cost = await costOf(server, shape, await logIn(server.port, 'sandbox'), search)
    costs.push(cost)
    const figures = [cost.stallMs, cost.meanMs].map((each) => milliseconds(each).padStart(10))
    progress(`${figures.join('')}  ${shape.name}`)
  }
  victims.end()
  await server.stop()
  return costs.sort((a, b) => b.stallMs - a.stallMs)
}

/** The worst shapes of each kind of attacker, one of each operation. */
const worst = (costs: readonly Cost[], count: number): Shape[] => {
  const chosen = new Map<string, Shape>()
  const taken: Record<Who, number> = { client: 0, stranger: 0, sandbox: 0 }
  for (const { shape } of costs) {
    const operation = `${shape.who} ${shape.name.split(':')[0]}`
    if (chosen.has(operation) || taken[shape.who] === count) continue
    chosen.set(operation, shape)
    taken[shape.who] += 1
  }
  return [...chosen.values()]
}

const attacked = async (
  folder: string,
  costs: readonly Cost[],
  form: Form,
  progress: Options['progress'],
): Promise<Report> => {
  const findings = costs.flatMap(({ shape, statuses }) =>
    [...statuses.keys()].filter((status) => status === 0 || status >= 500).map((status) => `${shape.name}: ${status}`),
  )
  const rows = [['attack', 'by', 'a request', 'requests', 'p50', 'p99', 'p100']]
  const server = await serve(['--data-dir', folder, ...FLAGS])
  const field = await Field.open(server, form)
  const attacks = [undefined, ...worst(costs, form.attacks)]
  const felt = new Map<Shape | undefined, Felt>(attacks.map((attack) => [attack, { latenciesMs: [], sent: 0 }]))
  for (let pass = 0; pass < form.passes; pass++) {
    for (const [attack, all] of felt) {
      const { latenciesMs, wrong, sent } = await field.window(attack)
      all.latenciesMs.push(...latenciesMs)
      all.sent += sent
      findings.push(...wrong.map((each) => `${nameOf(attack)}: a victim got ${each}`))
      progress([nameOf(attack), String(sent), ...figures(latenciesMs)].join('  '))
    }
  }
  field.end()
  await server.stop()
  const quietMs = percentile(felt.get(undefined)?.latenciesMs ?? [], 0.99)
  const bound = quietMs + MORE_MS_MAX
  for (const [attack, { latenciesMs, sent }] of felt) {
    const p99 = percentile(latenciesMs, 0.99)
    const cost = costs.find(({ shape }) => shape === attack)
    rows.push([
      nameOf(attack),
      attack?.who ?? '',
      cost ? milliseconds(cost.meanMs) : '',
      String(sent),
      ...figures(latenciesMs),
    ])
    if (form.isTimed && !(p99 <= bound)) findings.push(`${nameOf(attack)}: others wait ${milliseconds(p99)} at p99`)
  }
  const ranking = costs.map(({ shape, meanMs, stallMs, statuses }) => [
    shape.name,
    shape.who,
    milliseconds(stallMs),
    milliseconds(meanMs),
    [...statuses.keys()].join(' '),
  ])
  return { tables: [[['request', 'by', 'stall', 'cost', 'status'], ...ranking], rows], findings }
}

/** What the victims felt in all passes of an attack. */
interface Felt {
  latenciesMs: number[]
  sent: number
}

const nameOf = (attack: Shape | undefined): string => attack?.name ?? 'quiet'

const figures = (latenciesMs: readonly number[]): string[] =>
  [0.5, 0.99, 1].map((part) => milliseconds(percentile(latenciesMs, part)))

/** The server under attack, the victims, and the attacker. */
class Field {
  readonly #victims = new Victims()

  private constructor(
    private readonly server: Running,
    private readonly form: Form,
    private readonly tokens: readonly string[],
  ) {}

  static async open(server: Running, form: Form): Promise<Field> {
    await logIn(server.port, 'sbx_attacker')
    const tokens: string[] = []
    for (let victim = 0; victim < VICTIMS; victim++) tokens.push(await logIn(server.port, `sbx_victim-${victim}`))
    return new Field(server, form, tokens)
  }

  /** What the victims feel for a while, with an attack or without. */
  async window(attack?: Shape) {
    await this.#refill()
    const { port } = this.server
    const { seconds } = this.form
    const felt = this.#victims.feel({ port, tokens: this.tokens, seconds, perSecond: VICTIMS_PER_SECOND })
    const endsAtMs = performance.now() + seconds * 1_000
    const attacking = attack ? this.#attack(attack, endsAtMs) : 0
    return { ...(await felt), sent: await attacking }
  }

  end(): void {
    this.#victims.end()
  }

  /** Lets everybody have the whole of his limits again. */
  async #refill(): Promise<void> {
    for (const world of ['default', 'attacker', ...this.tokens.map((_, victim) => `victim-${victim}`)]) {
      await ask(this.server.port, { path: `/_sandbox/clock?world=${world}`, body: '{"advance":"PT1H"}' })
    }
  }

  /** Returns how many requests it has sent. */
  async #attack(shape: Shape, endsAtMs: number): Promise<number> {
    const token = await logIn(this.server.port, 'sandbox')
    let sent = 0
    const isOver = (): boolean => performance.now() >= endsAtMs
    const attacker = async (): Promise<void> => {
      let connection = await Connection.open(this.server.port)
      do {
        const bytes = shape.request(nextNumber(), token)
        await connection.send(bytes).catch(() => undefined)
        sent += 1
        if (shape.who === 'client')
          await Bun.sleep(Math.max(0, Math.min(REFILL_MS * BURST, endsAtMs - performance.now())))
        if (!connection.isOpen && !isOver()) connection = await Connection.open(this.server.port)
      } while (!isOver())
      connection.close()
    }
    // Until the last response: the next window must not feel what this attack has begun.
    await Promise.all(Array.from({ length: this.form.connections[shape.who] }, attacker))
    return sent
  }
}
