import { createHmac, timingSafeEqual } from 'node:crypto'
import { findPrivateFile, writePrivateFile } from '../db/data-folder.ts'
import type { Query } from '../db/database.ts'
import { type AuditSeal, keysOf } from './audit.ts'
import { type AuditRow, findAuditRow, getHead } from './queries.ts'

/** The end of the audit, kept beside the database too, so that a tail that was cut off shows (contract C17). */

const HEAD_FILE = 'audit.head'

export interface Head {
  count: number
  hash: string
  /** Null while there is no voucher key. */
  seal: string | null
}

/** Called after the commit of a row, in a transaction of its own, so that the last one that writes knows all rows. */
export const keepHead = (query: Query, dataDir: string, seal: AuditSeal | undefined): void =>
  writeHead(dataDir, headOf(query, seal))

export const headOf = (query: Query, seal: AuditSeal | undefined): Head => {
  const { count, hash } = getHead(query)
  return { count, hash, seal: seal ? sealOf({ count, hash }, seal) : null }
}

export const writeHead = (dataDir: string, head: Head): void =>
  writePrivateFile(dataDir, HEAD_FILE, `${JSON.stringify(head)}\n`)

const sealOf = ({ count, hash }: Pick<Head, 'count' | 'hash'>, { auditKey }: Pick<AuditSeal, 'auditKey'>): string =>
  createHmac('sha256', auditKey).update(`head ${count} ${hash}`).digest('hex')

/** At the start of a server: an audit from before there was a key is taken as it is. */
export const keepFirstHead = (query: Query, dataDir: string, seal: AuditSeal): void => {
  const { count } = getHead(query)
  if (count === 0 || findAuditRow(query, count)?.keyMark !== null) return
  const head = readHead(dataDir)
  if (head === 'missing' || (head !== 'damaged' && head.seal === null)) keepHead(query, dataDir, seal)
}

/**
 * How the audit differs from the head beside it, in words. A crash may leave that some rows behind.
 * @param head was read before the audit, which goes on meanwhile
 * @param seal undefined where the voucher key is not at hand, or there is none
 */
export const headFaults = (query: Query, head: ReturnType<typeof readHead>, seal: AuditSeal | undefined): string[] => {
  const { count } = getHead(query)
  if (head === 'missing') return count === 0 ? [] : [`${HEAD_FILE} is missing`]
  if (head === 'damaged') return [CHANGED]
  const row = findAuditRow(query, head.count)
  if (!row) return [`row ${count + 1} of the audit is missing`]
  if (seal && !isSealed(head, row, query, seal)) return [CHANGED]
  return row.hash === head.hash ? [] : [`row ${row.id} of the audit is not the one of ${HEAD_FILE}`]
}

const CHANGED = `${HEAD_FILE} was changed`

/** A restore may come before the key of its backup. */
const isSealed = (head: Head, { keyMark, command }: AuditRow, query: Query, seal: AuditSeal): boolean => {
  if (head.seal === null) return keyMark === null && command === 'restore'
  const auditKey = keyMark === null ? seal.auditKey : keysOf(query, seal).get(keyMark)
  return auditKey !== undefined && timingSafeEqual(Buffer.from(head.seal), Buffer.from(sealOf(head, { auditKey })))
}

const DIGEST = /^[0-9a-f]{64}$/

export const readHead = (dataDir: string): Head | 'missing' | 'damaged' => {
  const text = findPrivateFile(dataDir, HEAD_FILE)?.toString('utf8')
  if (text === undefined) return 'missing'
  try {
    const { count, hash, seal } = JSON.parse(text) as Head
    const isHead = Number.isSafeInteger(count) && DIGEST.test(hash) && (seal === null || DIGEST.test(seal))
    return isHead ? { count, hash, seal } : 'damaged'
  } catch {
    return 'damaged'
  }
}
