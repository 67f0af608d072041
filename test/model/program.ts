import type { Database as Sqlite } from 'bun:sqlite'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operationsOf, readDocument, type Served } from '../docs/document.ts'
import { type StartedServer, startServer } from '../harness.ts'
import { edges, fileEntry } from './goods.ts'
import type { ProgramResponse } from './play.ts'

/** The program of a run: started, ended, crashed and restarted, in process or as the executable. */

/** The options that a program is started with. They are a part of the script, so that shrinking can simplify them. */
export interface Setup {
  limits: 'off' | 'documented' | 'tight'
  catalog: 'seeded' | 'edges'
  /** True if it keeps its data in a folder. */
  keeps: boolean
}

const RATE_LIMITS: Record<Setup['limits'], string> = { off: 'off', documented: '1000/h,100/m', tight: '40/h,8/m' }

/** The operations of the OpenAPI document by their names. */
export type Operations = ReadonlyMap<string, Served>

/** The facts that the program reports about itself, requested once. */
export const readOperations = async (): Promise<Operations> => {
  const server = await startServer()
  const operations = operationsOf(await readDocument(server))
  await server.stop()
  return new Map(operations.map((operation) => [operation.operationId, operation]))
}

const scratch = mkdtempSync(join(tmpdir(), 'scrip-model-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

const edgesFile = join(scratch, 'catalog.json')
writeFileSync(edgesFile, JSON.stringify({ products: edges.map(fileEntry) }))

export class Program {
  #server: StartedServer | undefined
  readonly folder: string | undefined

  private constructor(
    readonly setup: Setup,
    private readonly operations: Operations,
  ) {
    this.folder = setup.keeps ? mkdtempSync(join(scratch, 'data-')) : undefined
  }

  static async start(setup: Setup, operations: Operations): Promise<Program> {
    const program = new Program(setup, operations)
    await program.begin()
    return program
  }

  get #running(): StartedServer {
    if (!this.#server) throw new Error('the program has ended')
    return this.#server
  }

  operation(id: string): Served {
    const operation = this.operations.get(id)
    if (!operation) throw new Error(`no operation is called ${id}`)
    return operation
  }

  database(world: string): Sqlite | undefined {
    return this.#running.database(world)
  }

  async begin(): Promise<void> {
    const { limits, catalog } = this.setup
    this.#server = await startServer(
      ...['--rate-limit', RATE_LIMITS[limits]],
      ...(catalog === 'edges' ? ['--catalog', edgesFile] : []),
      ...(this.folder === undefined ? [] : ['--data-dir', this.folder]),
    )
  }

  /** Ends the program as a service manager or a crash would, and starts it again. */
  async restart(how: 'stop' | 'kill'): Promise<void> {
    await this.#running[how]()
    await this.begin()
  }

  async end(): Promise<void> {
    await this.#server?.kill()
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true })
  }

  async ask(url: string, init: BunFetchRequestInit): Promise<ProgramResponse> {
    const before = Date.now()
    const outcome = await this.#responseTo(url, init)
    return { ...outcome, real: { lo: before, hi: Date.now() } }
  }

  async #responseTo(url: string, init: BunFetchRequestInit): Promise<Omit<ProgramResponse, 'real'>> {
    try {
      // On a kept connection, the runtime would silently repeat a request without a response.
      const response = await this.#running.request(url, { ...init, keepalive: false })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson && text !== '' ? JSON.parse(text) : undefined,
      }
    } catch {
      return { status: 0, headers: new Headers(), text: '', json: undefined }
    }
  }
}
