import { parentPort, Worker } from 'node:worker_threads'
import { bytesOf, Connection } from './connection.ts'

/**
 * The other clients, in a thread of their own: each sends requests at fixed times, also if earlier ones have no response yet.
 * Waits count from the planned time of the request.
 */

export interface Window {
  port: number
  /** A client each. */
  tokens: readonly string[]
  seconds: number
  perSecond: number
}

export interface Felt {
  latenciesMs: number[]
  /** Unexpected responses. */
  wrong: string[]
}

const WRONG_MAX = 10
const MS = 1_000

const QUESTIONS: readonly { path: string; body?: string; status: number }[] = [
  { path: '/api/v1/wallets', status: 200 },
  { path: '/api/v1/products/1', status: 200 },
  { path: '/api/v1/products/1/charges', body: '{"denomination":100,"quantity":2}', status: 200 },
  {
    path: '/api/v1/beneficiaries',
    body: '{"email":"ada@example.com","first_name":"Ada","last_name":"Lovelace"}',
    status: 201,
  },
]

const feel = async ({ port, tokens, seconds, perSecond }: Window): Promise<Felt> => {
  const felt: Felt = { latenciesMs: [], wrong: [] }
  const beginsAtMs = performance.now()
  const questions = Math.round(seconds * perSecond)
  const client = async (place: number): Promise<void> => {
    const connection = await Connection.open(port)
    for (let index = place; index < questions; index += tokens.length) {
      const dueAtMs = beginsAtMs + (index * MS) / perSecond
      const waitMs = dueAtMs - performance.now()
      if (waitMs > 0) await Bun.sleep(waitMs)
      const { status: expected, ...question } =
        QUESTIONS[Math.floor(index / tokens.length) % QUESTIONS.length] ?? fail()
      const response = await connection.send(
        bytesOf({ ...question, headers: { Authorization: `Bearer ${tokens[place]}` } }),
      )
      felt.latenciesMs.push(performance.now() - dueAtMs)
      if (response.status !== expected && felt.wrong.length < WRONG_MAX) {
        felt.wrong.push(`${question.path}: ${response.status} ${response.body.toString().slice(0, 200)}`)
      }
    }
    connection.close()
  }
  await Promise.all(tokens.map((_, place) => client(place)))
  return felt
}

const fail = (): never => {
  throw new Error('there are no questions')
}

parentPort?.on('message', (window: Window) => {
  feel(window).then(
    (felt) => parentPort?.postMessage(felt),
    (error: unknown) => parentPort?.postMessage({ latenciesMs: [], wrong: [String(error)] } satisfies Felt),
  )
})

/** The victims' thread. */
export class Victims {
  readonly #worker = new Worker(import.meta.path)

  feel(window: Window): Promise<Felt> {
    return new Promise((resolve) => {
      this.#worker.once('message', resolve)
      this.#worker.postMessage(window)
    })
  }

  end(): void {
    this.#worker.terminate()
  }
}
