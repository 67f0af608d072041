import { jsonIn } from './json.ts'

/**
 * Stored values that cannot be read: the schema rules them out, and a bad page of the disk or another program can write them.
 * One of them must not hide the other records of a list, or stop the writes of its client (contract C4).
 */

type Listener = (value: string) => void

let listener: Listener = () => undefined

/** Notifies of each value that cannot be read, once. A command has no log, and shows what it can. */
export const onUnreadable = (notify: Listener): void => {
  listener = notify
  reported.clear()
}

const reported = new Set<string>()
/** A disk that fails can break any number of values. */
const REPORTED_MAX = 1_000

/** @param value names it: `metadata of payout pyt_...` */
export const reportUnreadable = (value: string): void => {
  if (reported.has(value) || reported.size >= REPORTED_MAX) return
  reported.add(value)
  listener(value)
}

/** A stored JSON object; empty if it cannot be read. */
export const storedObject = <T extends object = Record<string, unknown>>(json: string, name: () => string): T => {
  const value = jsonIn(json)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as T
  reportUnreadable(name())
  return {} as T
}

/** A stored JSON list; empty if it cannot be read. */
export const storedList = <T>(json: string, name: () => string): T[] => {
  const value = jsonIn(json)
  if (Array.isArray(value)) return value as T[]
  reportUnreadable(name())
  return []
}
