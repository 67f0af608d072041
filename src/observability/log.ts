import { LOG_LEVELS, type LogLevel } from '../config/option-table.ts'
import type { RequestFacts, RequestListener } from '../http/request-timer.ts'
import { type Clock, toTimestamp } from '../kernel/clock.ts'
import { visibleLines } from '../kernel/visible.ts'

/** Never a secret. */
type LogFields = Record<string, string | number | boolean | null | undefined>

export type Log = Record<LogLevel, (message: string, fields?: LogFields) => void> & {
  /** Undefined at levels that write no line for a request. */
  requests: RequestListener | undefined
}

interface LogOptions {
  level: LogLevel
  format: 'pretty' | 'json'
  color: boolean
  /** The width of the terminal that shows the log; undefined without a terminal. */
  columns?: (() => number) | undefined
  clock: Clock
  write: (line: string) => void
}

const DIM = '\x1b[2m'
const RESET = '\x1b[0m'
const LEVEL_COLORS: Record<LogLevel, string> = { debug: DIM, info: '\x1b[36m', warn: '\x1b[33m', error: '\x1b[31m' }

/** Supervisors ask these every few seconds. */
const PROBES = new Set(['/livez', '/readyz'])

const STATUS_COLORS = { 2: '\x1b[32m', 3: '\x1b[36m', 4: '\x1b[33m', 5: '\x1b[31m' } as Readonly<Record<number, string>>
const METHOD_WIDTH = 'DELETE'.length
const LEVEL_WIDTH = 'error'.length
/** The width of a duration of almost a minute, in milliseconds. */
const DURATION_WIDTH = '59999.9'.length
/** The position of hours, minutes and seconds in a timestamp. */
const TIME_OF_DAY = [11, 19] as const

export const createLog = ({ level: least, format, color, columns, clock, write }: LogOptions): Log => {
  const line = (level: LogLevel, message: string, fields: LogFields): string => {
    const time = toTimestamp(clock.nowMs())
    if (format === 'json') return JSON.stringify({ time, level, message, ...fields })
    const [name, facts] = [paint(LEVEL_COLORS[level], level.padEnd(LEVEL_WIDTH)), paint(DIM, factsOf(fields))]
    return `${paint(DIM, shownTime(time))} ${name} ${message}${facts}`
  }
  const isWanted = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)
  const requestLine = (level: LogLevel, facts: RequestFacts): string => {
    const { method, route, status, error, durationMs, requestId, client, address, fault, traceparent } = facts
    const dryRun = { dry_run: facts.isDryRun || undefined }
    if (format === 'json') {
      const facts = { method, route, status, error, duration_ms: durationMs, request_id: requestId, client, address }
      return line(level, 'request', { ...facts, ...dryRun, fault, traceparent })
    }
    const shown = paint(STATUS_COLORS[Math.floor(status / 100)], String(status))
    const took = paint(DIM, `${durationMs.toFixed(1).padStart(DURATION_WIDTH)} ms`)
    const what = `${method.padEnd(METHOD_WIDTH)} ${shown} ${took}  ${route ?? '(no route)'}`
    if (!columns)
      return line(level, what, { error, request_id: requestId, client, address, ...dryRun, fault, traceparent })
    // A terminal shows no date and no request id.
    const time = paint(DIM, shownTime(toTimestamp(clock.nowMs())))
    const text = `${time} ${what}${paint(DIM, factsOf({ error, client, ...dryRun, fault }))}`
    return Bun.sliceAnsi(text, 0, columns(), '…')
  }
  /** A terminal shows today's lines, so they have no date. */
  const shownTime = (time: string): string => (columns ? time.slice(...TIME_OF_DAY) : time)
  const paint = (start = '', text: string): string => (color && text !== '' ? `${start}${text}${RESET}` : text)
  const requests: RequestListener = {
    onEnded: (facts) => {
      const level = facts.route !== null && PROBES.has(facts.route) ? 'debug' : 'info'
      if (isWanted(level)) write(`${requestLine(level, facts)}\n`)
    },
  }
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (isWanted(level)) write(`${line(level, message, fields)}\n`)
    }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    requests: isWanted('info') ? requests : undefined,
  }
}

const factsOf = (fields: LogFields): string => {
  let facts = ''
  for (const name in fields)
    if (fields[name] !== undefined && fields[name] !== null) facts += ` ${name}=${fields[name]}`
  return visibleLines(facts)
}
