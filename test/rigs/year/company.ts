import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { commandLine } from '../../../src/commands/command-line.ts'
import { serveActs } from '../../../src/commands/serve/acts.ts'
import { configOf } from '../../../src/config/config.ts'
import type { ServeOptions } from '../../../src/config/option-table.ts'
import { withServeOptions } from '../../../src/config/options.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { createLog } from '../../../src/observability/log.ts'
import { build } from '../../../src/start/build.ts'
import { open } from '../../../src/start/open.ts'

/** Live mode in this process, whose clock is set: the API, and the commands of the operator beside it. */

export interface Movement {
  atMs: number
  /** Negative for a debit. */
  minor: number
}

/** The state of a client that its responses alone show. */
export interface Customer {
  name: string
  password: string
  walletId: number
  currency: string
  movements: Movement[]
}

export interface ReadResponse {
  status: number
  body: Record<string, unknown>
}

/** Of the JSON of an amount in major units; all currencies of the year have two decimals. */
export const minorOf = (amount: unknown): number => Math.round(Number(amount) * 100)

export class Company {
  nowMs: number
  /** The commands that changed data, or tried to. */
  readonly acts: string[] = []
  #said = ''
  readonly #handle: (request: Request) => Response | Promise<Response>
  readonly #close: () => void

  constructor(
    private readonly folder: string,
    readonly dataDir: string,
    startMs: number,
  ) {
    this.nowMs = startMs
    // This process runs nothing else: its clock and its standard output belong to the year.
    Reflect.set(Date, 'now', () => this.nowMs)
    Reflect.set(process.stdout, 'write', (text: string, onWritten?: () => void) => {
      this.#said += text
      onWritten?.()
      return true
    })
    const flags = ['--mode', 'live', '--data-dir', dataDir, '--rate-limit', 'off']
    const command = withServeOptions(new Command('serve')).parse(flags, { from: 'user' })
    const write = (line: string) => process.stderr.write(line)
    const log = createLog({ level: 'error', format: 'json', color: false, clock: systemClock, write })
    const config = configOf(command.opts<ServeOptions>())
    const opened = open(config, systemClock, log)
    const url = 'http://localhost:4747'
    const bound = { publicUrl: url, addressOf: () => '127.0.0.1', isClosing: () => false }
    const { deps, handle, delivering, refresh } = build(opened, bound)
    this.#handle = handle
    const worldOf = () => deps.worlds.default
    const acts = serveActs({ config, log, worldOf, replica: undefined, delivering, refresh })
    this.#close = () => {
      void acts?.stop(0)
      opened.close()
    }
  }

  close(): void {
    this.#close()
  }

  /** Runs a command, which has to succeed and prints JSON. */
  async command<T = Record<string, unknown>>(...words: string[]): Promise<T> {
    this.#said = ''
    const program = await commandLine({}, words)
    await program.parseAsync([...words, '--data-dir', this.dataDir, '--json'], { from: 'user' })
    return JSON.parse(this.#said) as T
  }

  /** Runs a command that has a row in the audit. */
  async act<T = Record<string, unknown>>(...words: string[]): Promise<T> {
    const said = await this.command<T>(...words)
    this.acts.push(words.slice(0, 2).join(' '))
    return said
  }

  /** Serves the desk in this process, and returns its address. */
  async desk(): Promise<string> {
    this.#said = ''
    const words = ['desk', '--desk-port', '0', '--data-dir', this.dataDir]
    const program = await commandLine({}, words)
    void program.parseAsync(words, { from: 'user' })
    while (!this.#said.includes('\n')) await new Promise(setImmediate)
    return this.#said.trim()
  }

  file(name: string, content: string): string {
    const path = join(this.folder, name)
    writeFileSync(path, content)
    return path
  }

  async logIn({ name: username, password }: Customer): Promise<string> {
    const { status, body } = await this.ask('/auth/login', undefined, { username, password })
    if (status !== 200) throw new Error(`login of ${username}: ${status}`)
    return String(body.access_token)
  }

  /** POST, with a body. */
  async ask(path: string, token: string | undefined, body: object): Promise<ReadResponse> {
    const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` })
    const request = new Request(`http://localhost:4747${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const response = await this.#handle(request)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
}
