import { BlockList } from 'node:net'
import type { BucketSize } from '../http/rate-limit.ts'
import { HOUR_MS } from '../kernel/clock.ts'
import { parseKey } from '../kernel/keys.ts'
import { findSecret, portOf, variableOf } from './environment.ts'
import {
  type DataOptions,
  type HealthOptions,
  LOOPBACK,
  type LogLevel,
  type Mode,
  type RunOptions,
  type ServeOptions,
} from './option-table.ts'
import { UsageError } from './usage-error.ts'

/**
 * Flags and environment become one frozen {@link Config}: a flag outranks its variable, and that the default (contract
 * C1). Nothing else reads the environment.
 */

export interface Config {
  host: string
  /** 0 takes a free one. */
  port: number
  mode: Mode
  /** Where data is kept; in memory when left out. */
  dataDir: string | undefined
  catalogFile: string | undefined
  ratesFile: string | undefined
  /** The buckets of each client; undefined lifts all limits. */
  limits: readonly BucketSize[] | undefined
  accessTtlMs: number
  refreshTtlMs: number
  chargeTtlMs: number
  /** Charged for paying in another currency, in basis points (contract C9). */
  conversionBasisPoints: number
  /** The fee on a payout, in basis points (contract C13). */
  payoutFeeBasisPoints: number
  logFormat: 'pretty' | 'json'
  logLevel: LogLevel
  readyFile: string | undefined
  /** What the sandbox draws its randomness from; a fresh one for each start when left out. */
  seed: string | undefined
  sandboxToken: string | undefined
  /** What voucher codes are sealed with, when it is not kept in the data folder. */
  voucherKey: Uint8Array | undefined
  /** The state that every world begins in; the seeded one when left out. */
  snapshotFile: string | undefined
  /** Whether members and parameters that the API would ignore are refused. */
  strict: boolean
  /** What the worlds of the sandbox and their journals may take of the memory together, in bytes. */
  memoryBytesMax: number
  /** Proxies whose X-Forwarded-For is believed. */
  trustedProxies: BlockList
  /** Where metrics are given; nowhere when left out. */
  metrics: { host: string; port: number } | undefined
  /** The address that pictures are linked at, when it is not the one that is bound. */
  publicUrl: string | undefined
}

const VOUCHER_KEY_BYTES = 32
/** Real money is not spent at prices older than this (contract C12). */
const LIVE_CHARGE_TTL_MS_MAX = HOUR_MS

/** The config of a server. @throws UsageError when options do not go together */
export const configOf = (options: ServeOptions): Config => {
  const config = documentConfigOf(options)
  if (config.mode === 'live' && config.dataDir === undefined) {
    throw new UsageError('--mode live keeps real records: set --data-dir')
  }
  return config
}

/** The config of `scrip openapi`, which keeps no records and so needs no folder in live mode either. @throws UsageError */
export const documentConfigOf = (options: ServeOptions): Config => {
  if (options.mode === 'live' && options.chargeTtl > LIVE_CHARGE_TTL_MS_MAX) {
    throw new UsageError('--charge-ttl is at most 1h in live mode: orders are placed at the prices that it keeps')
  }
  return Object.freeze({
    host: options.host,
    port: portOf(options.port),
    mode: options.mode,
    dataDir: options.dataDir,
    catalogFile: options.catalog,
    ratesFile: options.rates,
    limits: options.rateLimit === 'off' ? undefined : options.rateLimit,
    accessTtlMs: options.accessTtl,
    refreshTtlMs: options.refreshTtl,
    chargeTtlMs: options.chargeTtl,
    conversionBasisPoints: options.conversionFee,
    payoutFeeBasisPoints: options.payoutFee,
    logFormat: options.logFormat,
    logLevel: options.logLevel ?? (options.mode === 'live' || process.stderr.isTTY ? 'info' : 'warn'),
    readyFile: options.readyFile,
    seed: options.seed,
    sandboxToken: findSecret('sandboxToken', options.sandboxToken),
    voucherKey: findKey('voucherKey', options.voucherKey),
    snapshotFile: options.snapshot,
    strict: options.strict ?? false,
    memoryBytesMax: options.memory,
    publicUrl: options.publicUrl,
    trustedProxies: options.trustedProxy ?? new BlockList(),
    metrics: metricsOf(options),
  })
}

/** @throws UsageError; the key itself is never told */
const findKey = (name: string, given?: string): Uint8Array | undefined => {
  const text = findSecret(name, given)
  if (text === undefined) return undefined
  const key = parseKey(text, VOUCHER_KEY_BYTES)
  if (!key) throw new UsageError(`${variableOf(name)} is ${VOUCHER_KEY_BYTES} bytes as hexadecimal digits or base64`)
  return key
}

/** The key that codes are to be sealed with from now on. @throws UsageError */
export const findNewVoucherKey = (): Uint8Array | undefined => findKey('newVoucherKey')

/** Metrics are for those who run the server, so that they never share its port. @throws UsageError */
const metricsOf = ({ port, metricsHost: host, metricsPort }: ServeOptions): Config['metrics'] => {
  if (metricsPort === undefined) {
    if (host === LOOPBACK) return undefined
    throw new UsageError('--metrics-host says where metrics are given: say at which --metrics-port, too')
  }
  if (metricsPort !== 0 && metricsPort === portOf(port)) {
    throw new UsageError(`--metrics-port ${metricsPort} is the port of the API: metrics need one of their own`)
  }
  return { host, port: metricsPort }
}

/** What `scrip run` serves, and what it does around its command. */
export interface RunConfig extends Config {
  /** Where the coverage report goes; `-` is standard error. */
  coverageFile: string | undefined
  /** The share of the documented outcomes that has to be exercised, 0 to 100. */
  failUnderPercent: number | undefined
  /** The world that the command is given access to, without `sbx_`; the default one when left out. */
  world: string | undefined
}

/** A free port is taken unless one is named: the bare PORT belongs to the command. @throws UsageError */
export const runConfigOf = (options: RunOptions): RunConfig => {
  if (options.mode === 'live') throw new UsageError('scrip run starts a sandbox: there is no --mode live for it')
  return Object.freeze({
    ...configOf({ ...options, port: options.port ?? 0 }),
    coverageFile: options.coverage,
    failUnderPercent: options.failUnder,
    world: options.world?.replace(/^sbx_/, ''),
  })
}

/** Which data a command administers, and how it answers. */
export interface DataConfig {
  dataDir: string
  voucherKey: Uint8Array | undefined
  json: boolean
}

/** @throws UsageError when no folder is named */
export const dataConfigOf = (options: DataOptions): DataConfig => {
  if (options.dataDir === undefined) {
    throw new UsageError('say whose data: --data-dir, or the variable SCRIP_DATA_DIR')
  }
  return { ...fileConfigOf(options), dataDir: options.dataDir }
}

/** As {@link dataConfigOf}, for commands that do without a folder. @throws UsageError */
export const fileConfigOf = (options: DataOptions): Omit<DataConfig, 'dataDir'> & { dataDir: string | undefined } => ({
  dataDir: options.dataDir,
  voucherKey: findKey('voucherKey'),
  json: options.json ?? false,
})

/** The address of the server whose health is asked for. @throws UsageError */
export const healthUrlOf = ({ host, port, url }: HealthOptions): string => url ?? urlOf(host, portOf(port))

/** How a bound address is reached from this machine. */
export const urlOf = (host: string, port: number): string => {
  const reached = REACHED_AT[host] ?? host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Addresses that stand for all of a machine's own. */
const REACHED_AT: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
