import type { Running } from '../program.ts'
import { type Ask, ask, type RawResponse } from './connection.ts'
import { logIn } from './server.ts'

/** A partner with webhooks in the default world of a sandbox. */

export interface EventBody {
  id: string
  type: string
  created_at: string
  data: { id: number | string }
}

/** The record of an event; the events of one record keep their order. */
export const recordOf = ({ type, data }: EventBody): string => `${type.split('.')[0]} ${data.id}`

const PAGE = 100

export class Partner {
  private constructor(
    readonly port: number,
    private token: string,
  ) {}

  static async of({ port }: Running): Promise<Partner> {
    return new Partner(port, await logIn(port, 'sandbox'))
  }

  get headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.token}` }
  }

  ask(question: Ask): Promise<RawResponse> {
    return ask(this.port, { ...question, headers: this.headers })
  }

  post(path: string, body: object = {}): Promise<RawResponse> {
    return this.ask({ path, body: JSON.stringify(body) })
  }

  async read<T>(path: string): Promise<T> {
    const { status, body } = await this.ask({ path })
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${body}`)
    return JSON.parse(body.toString()) as T
  }

  async hook(port: number, path: string, events: readonly string[] = ['*']): Promise<string> {
    const webhook = { name: path, url: `http://127.0.0.1:${port}${path}`, events }
    const { status, body } = await this.post('/api/v1/webhooks', webhook)
    if (status !== 201) throw new Error(`webhook: ${status} ${body}`)
    return (JSON.parse(body.toString()) as { id: string }).id
  }

  /** Moves the clock, after which the access token may have expired. */
  async advance(time: string): Promise<void> {
    const { status, body } = await this.post('/_sandbox/clock', { advance: time })
    if (status !== 200) throw new Error(`clock: ${status} ${body}`)
    this.token = await logIn(this.port, 'sandbox')
  }

  async settle(): Promise<void> {
    await this.post('/_sandbox/webhooks/settle')
  }

  pay(reference: string): Promise<RawResponse> {
    const person = { beneficiary_email: 'a@example.com', beneficiary_first_name: 'A', beneficiary_last_name: 'B' }
    return this.post('/api/v1/payouts', {
      reference_id: reference,
      wallet_id: 1,
      amount: 1,
      currency: 'USD',
      ...person,
    })
  }

  /** All events, the oldest first. */
  async events(): Promise<EventBody[]> {
    const all: EventBody[] = []
    for (let page = 1; ; page++) {
      const rows = await this.read<EventBody[]>(`/api/v1/events?limit=${PAGE}&page=${page}`)
      all.push(...rows)
      if (rows.length < PAGE) return all.reverse()
    }
  }
}
