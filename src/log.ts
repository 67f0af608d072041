import { LOG_LEVELS, type LogLevel } from './config.ts'
import { type Clock, toTimestamp } from './kernel/clock.ts'

/** Facts that belong to a message: numbers and words, never a secret. */
export type LogFields = Record<string, string | number | boolean | undefined>

/** Writes one line for each event to standard error. */
export type Log = Record<LogLevel, (message: string, fields?: LogFields) => void>

export interface LogOptions {
  level: LogLevel
  format: 'pretty' | 'json'
  color: boolean
  clock: Clock
  write: (line: string) => void
}

const DIM = '\x1b[2m'
const RESET = '\x1b[0m'
const LEVEL_COLORS: Record<LogLevel, string> = { debug: DIM, info: '\x1b[36m', warn: '\x1b[33m', error: '\x1b[31m' }

export const createLog = ({ level: least, format, color, clock, write }: LogOptions): Log => {
  const line = (level: LogLevel, message: string, fields: LogFields): string => {
    const time = toTimestamp(clock.nowMs())
    if (format === 'json') return JSON.stringify({ time, level, message, ...fields })
    const facts = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` ${name}=${value}`)
      .join('')
    return color
      ? `${DIM}${time}${RESET} ${LEVEL_COLORS[level]}${level.padEnd(5)}${RESET} ${message}${DIM}${facts}${RESET}`
      : `${time} ${level.padEnd(5)} ${message}${facts}`
  }
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)) write(`${line(level, message, fields)}\n`)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
