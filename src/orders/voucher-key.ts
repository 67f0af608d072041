import { hasActs, sealFirstHead } from '../audit/audit.ts'
import { hasKeyedRow } from '../audit/queries.ts'
import type { Database, Query } from '../db/database.ts'
import { findPrivateFile, movePrivateFile, writePrivateFile } from '../folder/files.ts'
import { DataFault } from '../kernel/exit.ts'
import { freshSecret } from '../kernel/ids.ts'
import { parseKey } from '../kernel/keys.ts'
import { hasClients } from '../sessions/queries.ts'
import { hasPaid } from '../wallets/queries.ts'
import { Cipher, VOUCHER_KEY_BYTES } from './cipher.ts'
import { everyCode, insertMark, markOf } from './stock-queries.ts'

/** The key that encrypts voucher codes, unless the operator provides one (contract C12). */
const KEY_FILE = 'voucher.key'
/** The new key, until everything is encrypted with it. */
const NEXT_KEY_FILE = 'voucher.key.next'

export type CipherSource = (query: Query) => Cipher

/**
 * Opens the cipher of a database. The first key that is used is stored as a mark, so that another key is detected.
 * @param others keys that decrypt codes but never encrypt
 * @throws DataFault if the key is missing, damaged or the wrong one
 */
export const openCipher = (
  database: Database,
  dataDir: string,
  envKey: Uint8Array | undefined,
  others: readonly Uint8Array[] = [],
): Cipher =>
  database.fill((tx) => {
    if (markOf(tx) !== undefined) return cipherAsMarked(tx, keysOf(dataDir, envKey), others)
    const isBeforeKey = precedesKey(tx)
    const kept = envKey ? undefined : readKey(dataDir, KEY_FILE)
    const key = envKey ?? kept ?? freshSecret(VOUCHER_KEY_BYTES)
    if (!envKey && !kept) writeKey(dataDir, KEY_FILE, key)
    insertMark(tx, markFrom(key))
    const cipher = cipherAsMarked(tx, keysOf(dataDir, envKey), others)
    // Otherwise the mark was removed, and with it the keys of the audit.
    if (isBeforeKey) sealFirstHead(tx, cipher)
    return cipher
  })

/**
 * True for a database without a mark that has not had a key yet (contract C17): acts of operators need none. The start of a server makes
 * one, and so does an import of codes.
 */
export const precedesKey = (query: Query): boolean => {
  const isKeyed = markOf(query) !== undefined || hasKeyedRow(query)
  if (isKeyed || hasPaid(query) || !everyCode(query)[Symbol.iterator]().next().done) return false
  return hasActs(query) || !hasClients(query) // each client has an act
}

/** The cipher of live mode, for a database with a mark. It is opened at first use. Throws DataFault as {@link cipherAsMarked}. */
export const liveCiphers = (dataDir: string, envKey: Uint8Array | undefined): CipherSource => {
  let cipher: Cipher | undefined
  return (query) => (cipher ??= cipherAsMarked(query, keysOf(dataDir, envKey)))
}

/** The available keys, the permanent one first. */
export const keysOf = (
  dataDir: string | undefined,
  envKey: Uint8Array | undefined,
  next?: Uint8Array,
): Uint8Array[] => {
  const files =
    dataDir === undefined ? [] : [envKey ? undefined : readKey(dataDir, KEY_FILE), readKey(dataDir, NEXT_KEY_FILE)]
  return [envKey, ...files, next].filter((key) => key !== undefined)
}

/** True if a key is given, or in the folder. @throws DataFault if a stored key is damaged */
export const hasKey = ({ dataDir, voucherKey }: KeySource): boolean => keysOf(dataDir, voucherKey).length > 0

/** The possible places of the voucher key. */
export interface KeySource {
  dataDir?: string | undefined
  voucherKey?: Uint8Array | undefined
}

/** The cipher with the key that the mark of the database names. @throws DataFault if that key is missing */
export const cipherAsMarked = (
  query: Query,
  keys: readonly Uint8Array[],
  others: readonly Uint8Array[] = [],
): Cipher => {
  const mark = markOf(query)
  const key = keys.find((one) => markFrom(one) === mark)
  if (!key) throw new DataFault(`${keys.length === 0 ? `${KEY_FILE} is missing` : WRONG_KEY}\n${SET_KEY}`)
  return new Cipher(key, others)
}

/** @throws DataFault as {@link cipherAsMarked}, if the database holds encrypted data */
export const requireKeys = (query: Query, dataDir: string, envKey: Uint8Array | undefined): void => {
  if (markOf(query) !== undefined) cipherAsMarked(query, keysOf(dataDir, envKey))
}

/** True if the available keys fit the database; undefined without a key. @throws DataFault if a stored key is damaged */
export const areKeysOf = (
  query: Query,
  dataDir: string | undefined,
  envKey: Uint8Array | undefined,
): boolean | undefined => {
  const keys = keysOf(dataDir, envKey)
  const mark = markOf(query)
  return keys.length === 0 ? undefined : mark === undefined || keys.some((key) => markFrom(key) === mark)
}

/** The cipher of a database; undefined if nothing is encrypted yet, or the key is not available. */
export const findCipher = (
  query: Query,
  dataDir: string | undefined,
  envKey: Uint8Array | undefined,
): Cipher | undefined =>
  markOf(query) !== undefined && areKeysOf(query, dataDir, envKey)
    ? cipherAsMarked(query, keysOf(dataDir, envKey))
    : undefined

const WRONG_KEY = 'the voucher key is not the one that encrypted the codes of this database'
const SET_KEY = `Set that key with SCRIP_VOUCHER_KEY, SCRIP_VOUCHER_KEY_FILE or the file ${KEY_FILE} of the data folder.`

const markFrom = (key: Uint8Array): string => new Cipher(key).mark

const readKey = (dataDir: string, file: string): Uint8Array | undefined => {
  const text = findPrivateFile(dataDir, file)?.toString('utf8')
  if (text === undefined) return undefined
  const key = parseKey(text, VOUCHER_KEY_BYTES)
  if (!key)
    throw new DataFault(`${file} is not a key\nA key is ${VOUCHER_KEY_BYTES} bytes as hexadecimal digits or base64.`)
  return key
}

const writeKey = (dataDir: string, file: string, key: Uint8Array): void =>
  writePrivateFile(dataDir, file, `${Buffer.from(key).toString('hex')}\n`)

/**
 * The new key of a data folder: from an interrupted run, as given, or generated.
 * @throws DataFault if the given key differs from that of the interrupted run
 */
export const nextKeyIn = (dataDir: string, envKey: Uint8Array | undefined): Uint8Array => {
  const left = readKey(dataDir, NEXT_KEY_FILE)
  if (left && envKey && markFrom(left) !== markFrom(envKey)) {
    throw new DataFault(
      `${NEXT_KEY_FILE} contains the new key of an interrupted run\nFinish that run without giving another key.`,
    )
  }
  const key = left ?? envKey ?? freshSecret(VOUCHER_KEY_BYTES)
  if (!left) writeKey(dataDir, NEXT_KEY_FILE, key)
  return key
}

/** Replaces the key of a data folder, and returns the name of the file that keeps the old one. */
export const promoteKey = (dataDir: string, time: string): string => {
  const before = `${KEY_FILE}.before-${time.replaceAll(':', '-')}`
  const old = findPrivateFile(dataDir, KEY_FILE)
  if (old) writePrivateFile(dataDir, before, old)
  movePrivateFile(dataDir, NEXT_KEY_FILE, KEY_FILE)
  return before
}
