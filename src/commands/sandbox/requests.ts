import { setTimeout as sleep } from 'node:timers/promises'
import type { Static } from '@sinclair/typebox'
import type { Command } from 'commander'
import { sandboxAccessOf } from '../../config/config.ts'
import {
  REQUEST_LIST_OPTIONS,
  REQUEST_SHOW_OPTIONS,
  REQUEST_TAIL_OPTIONS,
  type RequestListOptions,
  type RequestTailOptions,
  type TriggerOptions,
} from '../../config/option-table.ts'
import { withOptions } from '../../config/options.ts'
import { parseCount } from '../../config/values.ts'
import { SECOND_MS } from '../../kernel/clock.ts'
import { visible, visibleLines } from '../../kernel/visible.ts'
import { messagesIn } from '../../sandbox/feed/messages.ts'
import type { RecordedHead, RequestDetail } from '../../sandbox/requests/contract.ts'
import { explanationOf } from '../../sandbox/requests/in-words.ts'
import { hasStatus } from '../../sandbox/requests/status.ts'
import { print } from '../terminal/output.ts'
import { tableOf } from '../terminal/table.ts'
import { bodyOf, jsonOr, SandboxClient } from './sandbox-client.ts'

/** `scrip requests`: the request log of a running sandbox in a terminal (contract C15). */

export const requestsCommands = (command: Command): void => {
  withOptions(command.command('list'), REQUEST_LIST_OPTIONS)
    .description('print the requests of a world, a line each, the newest last')
    .action(list)
  withOptions(command.command('show'), REQUEST_SHOW_OPTIONS)
    .description('print one request: why it got its response, what to do, and what it changed')
    .argument('<id>', 'the id, as the list has it', parseCount)
    .action(showOne)
  withOptions(command.command('tail'), REQUEST_TAIL_OPTIONS)
    .description('print the last requests, then each new one as it arrives')
    .action(tail)
}

const list = async (options: RequestListOptions): Promise<void> => {
  const { format } = options
  const isText = format === 'text'
  const query = queryOf(options, { bodies: String(!isText), limit: LIMIT, ...(!isText && { format }) })
  const reply = bodyOf(await new SandboxClient(sandboxAccessOf(options)).control('GET', `/requests?${query}`))
  if (!isText)
    return void (await print(typeof reply === 'string' ? visibleLines(reply) : `${JSON.stringify(reply, null, 2)}\n`))
  const heads = reply as RecordedHead[]
  await print(heads.length === 0 ? '(none)\n' : heads.toReversed().map(lineOf).join(''))
}

/** The whole log of a world. */
const LIMIT = '1000'

const queryOf = ({ status, method, search }: RequestTailOptions, more: Record<string, string>): string => {
  const filters = { status, method, search }
  const entries = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return new URLSearchParams([...entries, ...Object.entries(more)]).toString()
}

const TIME = [11, 19] as const
const SOLID_MS = 10

/** A request on a line, which a terminal does not break: the path gives way. */
const lineOf = ({
  id,
  at,
  method,
  path,
  client,
  world,
  response,
  outcome,
  message,
  fault,
  ...rest
}: RecordedHead): string => {
  const { status } = response
  const ms = rest.duration_ms < SOLID_MS ? rest.duration_ms.toFixed(1) : String(Math.round(rest.duration_ms))
  const first = [
    at.slice(...TIME),
    `#${id}`.padStart(5),
    method.padEnd(6),
    (status === 0 ? 'lost' : String(status)).padEnd(4),
    `${ms.padStart(5)} ms`,
  ].join(' ')
  const last = [
    outcome === 'success' ? [] : (outcome ?? message ?? []),
    rest.dry_run ? 'dry run' : [],
    client ?? `world ${world}`,
  ]
    .flat()
    .map(visible)
    .join('  ')
  const room = (process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY) - first.length - GAPS
  const end = last.length > room - PATH_MIN ? `${last.slice(0, room - PATH_MIN - 1)}…` : last
  return `${first} ${shortened(visible(path), room - end.length)}  ${end}\n`
}

/** The blanks around the path. */
const GAPS = 3
const PATH_MIN = 8

/** The end of a path says more than its beginning. */
const shortened = (path: string, width: number): string => (path.length <= width ? path : `…${path.slice(1 - width)}`)

type Detail = Static<typeof RequestDetail>

const showOne = async (id: number, options: TriggerOptions): Promise<void> => {
  const client = new SandboxClient(sandboxAccessOf(options))
  const detail = bodyOf<Detail>(await client.control('GET', `/requests/${id}`))
  await print(detailText(detail, await earlierOf(client, detail)))
}

/** The request that a request repeats, if the log still has it. */
export const earlierOf = async (
  client: SandboxClient,
  { resent_of, world }: Pick<Detail, 'resent_of' | 'world'>,
): Promise<Detail | undefined> => {
  if (resent_of === null) return undefined
  const { status, body } = await client.control('GET', `/requests/${resent_of}`, { world })
  return status < 300 ? (body as Detail) : undefined
}

const detailText = (detail: Detail, earlier: Detail | undefined): string => {
  const { at, world, request_id, request, response, changes, ledger, caused, deliveries } = detail
  return [
    visibleLines(explanationOf(detail, earlier)),
    visible(`At ${at} in the world ${world}; request id ${request_id}.`),
    ...part(
      'Rows',
      changes.map(({ table, operation, key }) => ({ operation, table, key })),
    ),
    ...part(
      'Ledger',
      ledger.flatMap(({ id, lines }) =>
        lines.map(({ account, wallet_id, amount, currency }) => ({
          entry: id,
          account,
          wallet: wallet_id,
          amount,
          currency,
        })),
      ),
    ),
    ...part(
      'Events',
      caused.map(({ id, type }) => ({ id, type })),
    ),
    ...part(
      'Deliveries',
      deliveries.map(({ webhook_id, event_type, attempt, status }) => ({
        webhook: webhook_id,
        event: event_type,
        attempt,
        status,
      })),
    ),
    ...message('Request', request),
    ...message('Response', response),
    '',
  ].join('\n')
}

type Cells = Record<string, string | number | null>

const part = (title: string, rows: readonly Cells[]): string[] =>
  rows.length === 0 ? [] : ['', title, [...tableOf({ columns: Object.keys(rows[0] ?? {}), rows })].join('').trimEnd()]

const message = (
  title: string,
  { headers, body }: { headers: Record<string, string>; body: string | null },
): string[] => {
  const value = body === null ? undefined : jsonOr(body)
  const text = typeof value === 'object' ? JSON.stringify(value, null, 2) : body
  return [
    '',
    title,
    ...Object.entries(headers).map(([name, field]) => visible(`${name}: ${field}`)),
    ...(text === null ? [] : [visibleLines(text)]),
  ]
}

const SHOWN_FIRST = 10
const RETRY_MS = SECOND_MS

/** Follows the feed. After a break, also after a restart of the server, the log has what was missed. */
const tail = async (options: RequestTailOptions): Promise<void> => {
  const client = new SandboxClient(sandboxAccessOf(options))
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stopped.abort())
  const seen = new Seen()
  let fault: unknown
  const shown = async (heads: readonly RecordedHead[]): Promise<void> => {
    try {
      if (await print(heads.map(lineOf).join(''))) return
    } catch (error) {
      fault = error
    }
    stopped.abort()
  }
  const logged = async (more: Record<string, string>): Promise<RecordedHead[]> => {
    const query = queryOf(options, { bodies: 'false', limit: LIMIT, ...more })
    return bodyOf<RecordedHead[]>(await client.control('GET', `/requests?${query}`)).toReversed()
  }
  let isFirst = true
  const follow = async (): Promise<void> => {
    const feed = await client.feed(stopped.signal)
    for await (const messages of messagesIn(feed)) {
      const heads = messages.flatMap(({ event, data }) => (event === 'request' ? (data as RecordedHead) : []))
      // The first message comes when the feed is open: the log has what came before.
      const hasGap = messages.some(({ event, data }) => data === undefined || event === 'skipped')
      const news = (hasGap ? await logged({}) : await fitting(heads, options, logged)).filter((head) => seen.add(head))
      if (news.length > 0) await shown(isFirst ? news.slice(-SHOWN_FIRST) : news)
      isFirst = false
    }
  }
  while (!stopped.signal.aborted) {
    try {
      await follow()
    } catch (error) {
      if (stopped.signal.aborted) break
      if (isFirst) throw error
    }
    await sleep(RETRY_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
  }
  if (fault !== undefined) throw fault
}

/** The requests that a filter lets through. The feed has no bodies: the log searches in them. */
const fitting = async (
  heads: readonly RecordedHead[],
  { status, method, search }: RequestTailOptions,
  logged: (more: Record<string, string>) => Promise<RecordedHead[]>,
): Promise<readonly RecordedHead[]> => {
  const found = heads.filter(
    (head) =>
      (status === undefined || hasStatus(head.response.status, status)) &&
      (method === undefined || head.method === method.toUpperCase()),
  )
  return search === undefined || found.length === 0 ? found : logged({})
}

const SEEN_MAX = 20_000

/** The requests that were printed. A reset of a world, or a new process, uses their ids again. */
class Seen {
  readonly #keys = new Set<string>()

  /** Returns false for one that was added before. */
  add({ world, id, at, path, duration_ms }: RecordedHead): boolean {
    const key = `${world} ${id} ${at} ${path} ${duration_ms}`
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    const [oldest = ''] = this.#keys
    if (this.#keys.size > SEEN_MAX) this.#keys.delete(oldest)
    return true
  }
}
