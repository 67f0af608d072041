import { createHmac, timingSafeEqual } from 'node:crypto'
import { findPrivateFile, movePrivateFile, writePrivateFile } from '../db/data-folder.ts'
import type { Query } from '../db/database.ts'
import { type AuditSeal, keysOf } from './audit.ts'
import { type AuditRow, findAuditRow, getHead } from './queries.ts'

/** The end of the audit, kept beside the database too, so that a tail that was cut off shows (contract C17). */

export const HEAD_FILE = 'audit.head'
/** The head of a database that is about to take the place of this one: a crash in between leaves both. */
const NEXT_FILE = 'audit.head.next'

export interface Head {
  count: number
  hash: string
  /** Null while there is no voucher key. */
  seal: string | null
}

/**
 * Called after the commit of a row, in a transaction of its own, so that the last one that writes knows all rows. A head with
 * which the audit does not agree is left as it is: what was done to the audit must show after the next act, too.
 */
export const keepHead = (query: Query, dataDir: string, seal: AuditSeal | undefined): void => {
  const [heads, head] = [readHeads(dataDir), headOf(query, seal)]
  const isFirst = heads.length === 0 && head.count === 1
  /** From before there was a key. */
  const isUnsealed = heads.every((each) => each !== 'damaged' && each.seal === null)
  if (isFirst || headFaults(query, heads, isUnsealed ? undefined : seal).length === 0) writeHead(dataDir, head)
}

export const headOf = (query: Query, seal: AuditSeal | undefined): Head => {
  const { count, hash } = getHead(query)
  return { count, hash, seal: seal ? sealOf({ count, hash }, seal) : null }
}

const writeHead = (dataDir: string, head: Head, file = HEAD_FILE): void =>
  writePrivateFile(dataDir, file, `${JSON.stringify(head)}\n`)

/** Replaces the head together with the database. */
export const replacingHead = <T>(dataDir: string, head: Head, replaceDatabase: () => T): T => {
  writeHead(dataDir, head, NEXT_FILE)
  const replaced = replaceDatabase()
  movePrivateFile(dataDir, NEXT_FILE, HEAD_FILE)
  return replaced
}

const sealOf = ({ count, hash }: Pick<Head, 'count' | 'hash'>, { auditKey }: Pick<AuditSeal, 'auditKey'>): string =>
  createHmac('sha256', auditKey).update(`head ${count} ${hash}`).digest('hex')

/** At the start of a server: an audit from before there was a key is taken as it is. */
export const keepFirstHead = (query: Query, dataDir: string, seal: AuditSeal): void => {
  const { count } = getHead(query)
  if (count === 0 || findAuditRow(query, count)?.keyMark !== null) return
  if (readHeads(dataDir).every((head) => head !== 'damaged' && head.seal === null)) {
    writeHead(dataDir, headOf(query, seal))
  }
}

/**
 * How the audit differs from the head beside it, in words. A crash may leave that some rows behind.
 * @param heads were read before the audit, which goes on meanwhile
 * @param seal undefined where the voucher key is not at hand, or there is none
 */
export const headFaults = (
  query: Query,
  heads: ReturnType<typeof readHeads>,
  seal: AuditSeal | undefined,
): string[] => {
  if (heads.length === 0) return getHead(query).count === 0 ? [] : [`${HEAD_FILE} is missing`]
  const faults = heads.map((head) => faultIn(query, head, seal))
  return faults.includes(undefined) ? [] : faults.slice(0, 1).filter((fault) => fault !== undefined)
}

const faultIn = (query: Query, head: Head | 'damaged', seal: AuditSeal | undefined): string | undefined => {
  if (head === 'damaged') return CHANGED
  const row = findAuditRow(query, head.count)
  if (!row) return `row ${getHead(query).count + 1} of the audit is missing`
  if (seal && !isSealed(head, row, query, seal)) return CHANGED
  return row.hash === head.hash ? undefined : `row ${row.id} of the audit is not the one of ${HEAD_FILE}`
}

const CHANGED = `${HEAD_FILE} was changed`

/** A restore may come before the key of its backup. */
const isSealed = (head: Head, { keyMark, command }: AuditRow, query: Query, seal: AuditSeal): boolean => {
  if (head.seal === null) return keyMark === null && command === 'restore'
  const auditKey = keyMark === null ? seal.auditKey : keysOf(query, seal).get(keyMark)
  return auditKey !== undefined && timingSafeEqual(Buffer.from(head.seal), Buffer.from(sealOf(head, { auditKey })))
}

const DIGEST = /^[0-9a-f]{64}$/

/** None before something was written. */
export const readHeads = (dataDir: string): (Head | 'damaged')[] =>
  [HEAD_FILE, NEXT_FILE].flatMap((file) => {
    const text = findPrivateFile(dataDir, file)?.toString('utf8')
    return text === undefined ? [] : [parseHead(text)]
  })

const parseHead = (text: string): Head | 'damaged' => {
  try {
    const { count, hash, seal } = JSON.parse(text) as Head
    const isHead = Number.isSafeInteger(count) && DIGEST.test(hash) && (seal === null || DIGEST.test(seal))
    return isHead ? { count, hash, seal } : 'damaged'
  } catch {
    return 'damaged'
  }
}
