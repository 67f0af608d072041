import { existsSync, readFileSync } from 'node:fs'
import { Value } from '@sinclair/typebox/value'
import { InvalidArgumentError } from 'commander'
import type { ActResult } from '../../acts/act.ts'
import { Amount, type List, listOf } from '../../acts/cells.ts'
import { CLIENT } from '../../acts/clients.ts'
import { get } from '../../acts/kind.ts'
import { PAYOUT, readPaid } from '../../acts/payouts.ts'
import { type DataConfig, dataConfigOf, urlOf } from '../../config/config.ts'
import { type DeskOptions, LOOPBACK } from '../../config/option-table.ts'
import { parseMonth, parseTime } from '../../config/values.ts'
import type { Narrowing } from '../../db/narrowing.ts'
import { createDesk } from '../../desk/server.ts'
import { type ActsLine, Requested } from '../../desk/wire.ts'
import { hasDatabase } from '../../folder/files.ts'
import { systemClock } from '../../kernel/clock.ts'
import { EXIT, errorText, misused, ProgramError } from '../../kernel/exit.ts'
import { linesOf } from '../acts/wire.ts'
import { explained, explainFaults } from '../advice.ts'
import { verifiedData } from '../data/verify.ts'
import { holdsNoDatabase, type Reading, reading, requireLiveFolder } from '../records/administration.ts'
import { bind } from '../serve/bind.ts'
import { nextStopSignal } from '../serve/stop-signal.ts'
import { csvOf } from '../terminal/csv.ts'
import { print } from '../terminal/output.ts'
import { actOnDesk, formsOfActs } from './acts.ts'
import { listFor, PAGES, pageFor } from './lists.ts'
import { findingsOf, reconciliationOf } from './reconcile.ts'
import { statementFile, statementFor } from './statement.ts'
import { storyOf } from './story.ts'
import { todayOf } from './today.ts'

/** `scrip desk`: a page for the operator of a data folder, until its terminal ends (contract C20). */
export const desk = async ({ deskPort, readOnly, issuer, ...options }: DeskOptions): Promise<void> => {
  // The page shows the messages of an act; they are not printed.
  const config = { ...dataConfigOf(options), format: 'json' as const }
  await explainFaults(config.dataDir, () => {
    if (!existsSync(config.dataDir)) throw holdsNoDatabase(config.dataDir)
    requireLiveFolder(config.dataDir, 'desk')
  })
  const data = (request: Request, url: URL) => respondTo(config, request, url)
  const { openEntrance, respond } = createDesk(data, { isReadOnly: readOnly === true, issuer }, systemClock)
  const onEscape = (error: Error): Response => failed(error)
  const server = bind({ host: LOOPBACK, port: deskPort, onEscape })
  server.serve((request) => respond(request, server.addressOf(request)))
  const stopped = nextStopSignal('SIGHUP') // listens before anyone learns that the desk runs
  try {
    const announce = () => print(`${urlOf(LOOPBACK, server.port)}${openEntrance()}\n`)
    await announce()
    process.stderr.write(OPEN_IT)
    if (isInForeground()) process.stdin.on('data', announce).on('error', () => undefined)
    await stopped
  } finally {
    await server.stop(0)
  }
  process.exit(EXIT.done)
}

const STAT_FILE = '/proc/self/stat'

/** False for a job in the background, which its terminal stops when it reads. Only Linux says so. */
const isInForeground = (): boolean => {
  if (!existsSync(STAT_FILE) || !process.stdin.isTTY) return true
  const [, , group, , , foregroundGroup] = readFileSync(STAT_FILE, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return group === foregroundGroup
}

const OPEN_IT =
  'Open this address in a browser. It works once; Enter prints another one. The desk ends with this command, at Ctrl+C.\n'

const respondTo = async (config: DataConfig, request: Request, url: URL): Promise<Response> => {
  try {
    if (request.method === 'POST') return await changes(config, request, url)
    if (request.method === 'GET') return await reads(config, url)
    return new Response(null, { status: 405, headers: { allow: 'GET, POST' } })
  } catch (error) {
    return failed(error)
  }
}

const failed = (error: unknown): Response => json({ error: wordsOf(error) }, error instanceof ProgramError ? 400 : 500)

/** An error for the page. The terminal shows one that nobody expects. */
const wordsOf = (error: unknown): string => {
  if (error instanceof ProgramError) return error.message
  process.stderr.write(errorText(error instanceof Error ? (error.stack ?? error.message) : String(error)))
  return 'something went wrong\nThe terminal that runs scrip desk shows the error.'
}

const changes = async (config: DataConfig, request: Request, { pathname, searchParams }: URL): Promise<Response> => {
  if (pathname === '/data/verify') return json(await explainFaults(config.dataDir, () => verifiedData(config)))
  if (pathname === '/data/payouts') return json(await payoutsFor(config, searchParams, await request.text()))
  if (pathname === '/data/reconcile') return await compared(config, searchParams, await request.text())
  if (pathname !== '/data/acts') throw NOTHING
  const requested: unknown = await request.json().catch(() => undefined)
  if (!Value.Check(Requested, requested)) throw UNREADABLE
  const lines = linesOf(
    (line) => `${jsonText(line)}\n`,
    async (send: (line: ActsLine<ActResult, List>) => void) => {
      await actOnDesk(config, requested, send).catch((error: unknown) => send({ error: wordsOf(error) }))
    },
  )
  return new Response(lines, { headers: { 'content-type': 'application/x-ndjson', ...NO_GUESS } })
}

/** A client's own list beside the ledger. */
const compared = (config: DataConfig, searchParams: URLSearchParams, text: string): Promise<Response> =>
  explainFaults(config.dataDir, () =>
    reading(config, async (data) => {
      const parameterOf = (name: string) => searchParams.get(name) || undefined
      const named = { client: parameterOf('client') ?? '', file: parameterOf('file') ?? 'the list', text }
      const comparison = { ...narrowingOf(data, parameterOf), ...named }
      return parameterOf('csv') ? csv(findingsOf(data, comparison)) : json(reconciliationOf(data, comparison))
    }),
  )

/** The payouts that a list names, which is read as the command reads it. */
const payoutsFor = (config: DataConfig, searchParams: URLSearchParams, text: string) =>
  explainFaults('the list', () =>
    reading(config, async (data) => {
      const [column, amount_column, client] = ['column', 'amount_column', 'client'].map(
        (name) => searchParams.get(name) || undefined,
      )
      const named = readPaid(data, text, { column, amount_column, client })
      const { columns, rows } = listOf(PAYOUT.columns, named.payouts, data)
      return { columns, rows: [...rows], column: named.column, left: named.left, unknown: named.unknown }
    }),
  )

const NOTHING = misused('there is no such page\nSee the menu.')
const UNREADABLE = misused('the desk cannot read this request\nReload its page.')

const FOUND_MAX = 20

const reads = async (config: DataConfig, { pathname, searchParams }: URL): Promise<Response> => {
  const [what = '', name = '', id = ''] = partsOf(pathname)
  const parameterOf = (parameter: string): string | undefined => searchParams.get(parameter) || undefined
  if (what === 'forms') return json(await formsOfActs())
  if (!hasDatabase(config.dataDir)) return json({ isEmpty: true })
  return await explainFaults(config.dataDir, () =>
    reading(config, async (data) => {
      if (what === 'today') return json(await todayOf(data))
      if (what === 'record') return json(storyOf(data, name, id))
      if (what === 'search') return json(await found(data, parameterOf('search') ?? ''))
      if (what !== 'list') throw NOTHING
      const narrowing = narrowingOf(data, parameterOf)
      const isFile = parameterOf('csv') !== undefined
      if (name === 'statement') {
        if (isFile) return csv(statementFile(data, narrowing))
        return json(statementFor(data, narrowing, parameterOf('whole') !== undefined))
      }
      const page = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined
      if (!page) throw NOTHING
      const fields = Object.fromEntries((page.by ?? []).map((field) => [field, parameterOf(field)]))
      if (isFile) return csv(await listFor(data, page, narrowing, parameterOf('of'), fields))
      return json(await pageFor(data, page, narrowing, parameterOf('of'), fields))
    }),
  )
}

/** The decoded segments below `/data`. @throws ProgramError */
const partsOf = (pathname: string): string[] => {
  try {
    return pathname.split('/').slice(2).map(decodeURIComponent)
  } catch {
    throw UNREADABLE
  }
}

/** @throws ProgramError */
const narrowingOf = (
  { query }: Reading,
  parameterOf: (parameter: string) => string | undefined,
): Narrowing & { offset: number } => {
  const read = <Value>(name: string, parse: (text: string) => Value): Value | undefined => {
    const text = parameterOf(name)
    try {
      return text === undefined ? undefined : parse(text)
    } catch (error) {
      throw misused(explained(error))
    }
  }
  return {
    clientId: read('client', (name) => get(CLIENT, query, name).id),
    status: parameterOf('status'),
    sinceMs: read('since', parseTime),
    untilMs: read('until', parseTime),
    ...read('month', parseMonth),
    search: parameterOf('search'),
    offset: read('offset', offsetIn) ?? 0,
  }
}

/** @throws InvalidArgumentError */
const offsetIn = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError(`offset is invalid: ${text}\nIt is a whole number.`)
  return Number(text)
}

const found = async (data: Reading, search: string) => {
  const lists = []
  for (const [name, page] of Object.entries(PAGES)) {
    const list = page.isSearched ? await listFor(data, page, { search, limit: FOUND_MAX }) : undefined
    if (list?.total) lists.push({ name, ...list })
  }
  return lists
}

const csv = (list: List): Response =>
  new Response([...csvOf(list)].join(''), { headers: { 'content-type': 'text/csv; charset=utf-8' } })

/** A value as JSON: amounts are texts, and lists are read while they are written. */
const jsonText = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key: string, wire: unknown) {
    const member: unknown = this[key]
    if (member instanceof Amount) return member.words
    return member instanceof Iterator ? member.toArray() : wire
  })

const NO_GUESS = { 'x-content-type-options': 'nosniff' }

const json = (value: unknown, status = 200): Response =>
  new Response(jsonText(value), { status, headers: { 'content-type': 'application/json', ...NO_GUESS } })
