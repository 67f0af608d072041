import { expect } from 'bun:test'
import { freshActId } from '../../src/kernel/ids.ts'
import type { FilledAct } from '../../src/pages/act-form.ts'
import { type Running, startReady } from '../program.ts'
import type { Operator } from './live.ts'

type Act = Pick<FilledAct, 'command'> & Partial<FilledAct>

/** `scrip desk` as a program that speaks HTTP: its address, and the headers of a browser that was let in. */

export interface Done {
  notes: string[]
  result?: Record<string, unknown>
  refusal?: string
}

interface Line {
  ended?: Done
  sums?: { rows: Record<string, unknown>[] }
}

export class Desk implements AsyncDisposable {
  private constructor(
    readonly running: Running,
    /** The address that it printed: it lets one browser in. */
    readonly address: string,
  ) {}

  static async of(operator: Operator, env: Record<string, string> = {}, ...flags: string[]): Promise<Desk> {
    const running = await startReady(['desk', '--desk-port', '0', '--data-dir', operator.dataDir, ...flags], { env })
    return new Desk(running, running.ready)
  }

  get url(): string {
    return new URL(this.address).origin
  }

  enter(): Promise<Session> {
    return Session.at(this.address)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running[Symbol.asyncDispose]()
  }
}

/** A browser that was let in. */
export class Session {
  constructor(
    readonly url: string,
    readonly headers: Record<string, string>,
  ) {}

  /** Opens an address that lets a browser in. */
  static async at(address: string): Promise<Session> {
    const response = await fetch(address)
    expect(response.status).toBe(200)
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    const key = /data-key="([^"]+)"/.exec(await response.text())?.[1] ?? ''
    return new Session(new URL(address).origin, { cookie, 'x-desk-key': key })
  }

  request(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.url + path, { ...init, headers: { ...this.headers, ...(init.headers as object) } })
  }

  async read<T>(path: string): Promise<T> {
    const response = await this.request(`/data/${path}`)
    const body = await response.text()
    expect({ path, status: response.status, body }).toMatchObject({ status: 200 })
    return JSON.parse(body) as T
  }

  /** The ends of some acts. */
  async ask(...request: Parameters<Session['lines']>): Promise<Done[]> {
    return (await this.lines(...request)).flatMap(({ ended }) => ended ?? [])
  }

  /** The lines of the response to some acts. */
  async lines(acts: Act[], isDryRun = false, seen?: number): Promise<Line[]> {
    const filled = acts.map((act) => ({ id: freshActId(), input: {}, ...act }))
    const body = JSON.stringify({ acts: filled, isDryRun, seen })
    const response = await this.request('/data/acts', { method: 'POST', body })
    expect(response.status).toBe(200)
    const text = await response.text()
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
  }
}
