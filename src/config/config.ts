import { BlockList } from 'node:net'
import { resolve } from 'node:path'
import { HOUR_MS } from '../kernel/clock.ts'
import { misused } from '../kernel/exit.ts'
import { parseKey } from '../kernel/keys.ts'
import {
  findSecret,
  findSecretBytes,
  flagOf,
  isFlag,
  pipelineSummary,
  portOf,
  setBy,
  variableOf,
} from './environment.ts'
import {
  type CompareOptions,
  type DataOptions,
  DEFAULT_CREDENTIAL,
  defaultsOf,
  type HealthOptions,
  LOOPBACK,
  type McpOptions,
  type RunOptions,
  SERVE_OPTIONS,
  type ServeOptions,
  type TriggerOptions,
} from './option-table.ts'
import { type PostgresTarget, parsePostgresUrl } from './postgres-url.ts'

const KEY_BYTES = 32
/** Orders are not placed at prices older than this (contract C12). */
const LIVE_CHARGE_TTL_MS_MAX = HOUR_MS

/** @throws ProgramError when options exclude each other */
export const configOf = (options: ServeOptions) => {
  const config = documentConfigOf(options)
  if (config.mode === 'live' && config.dataDir === undefined) {
    throw misused('--mode live needs a folder for its records\nSet --data-dir.')
  }
  if (config.postgres) requireForPostgres(config)
  return config
}

/** `scrip openapi` has no records, and needs no folder in live mode either. @throws ProgramError */
export const documentConfigOf = (options: ServeOptions) => {
  if (options.mode === 'live' && options.chargeTtl > LIVE_CHARGE_TTL_MS_MAX) {
    throw misused('--charge-ttl is at most 1h in live mode\nAn order pays the held price.')
  }
  return Object.freeze({
    host: options.host,
    port: portOf(options.port),
    mode: options.mode,
    dataDir: options.dataDir,
    catalogFile: options.catalog,
    ratesFile: options.rates,
    /** Undefined lifts all limits. */
    limits: options.rateLimit === 'off' ? undefined : options.rateLimit,
    accessTtlMs: options.accessTtl,
    refreshTtlMs: options.refreshTtl,
    chargeTtlMs: options.chargeTtl,
    /** Contract C9. */
    conversionBasisPoints: options.conversionFee,
    /** Contract C13. */
    payoutFeeBasisPoints: options.payoutFee,
    logFormat: options.logFormat,
    logLevel: options.logLevel ?? (options.mode === 'live' || process.stderr.isTTY ? 'info' : 'warn'),
    isTrial: options.check ?? false,
    readyFile: options.readyFile,
    seed: options.seed,
    sandboxToken: findSecret('sandboxToken', options.sandboxToken),
    voucherKey: findKey('voucherKey', options.mode === 'live', options.voucherKey),
    signingKey: options.mode === 'live' ? findKey('signingKey', true, options.signingKey) : undefined,
    postgres: options.mode === 'live' ? findPostgres(options.postgres) : undefined,
    snapshotFile: options.snapshot,
    scenario: scenarioOf(options),
    strict: options.strict ?? false,
    corsOrigins: options.cors ?? new Set<string>(),
    publicUrl: options.publicUrl,
    trustedProxies: options.trustedProxy ?? new BlockList(),
    /** Networks of receivers besides those of the mode (contract C16). */
    webhookNetworks: options.webhookAllow ?? new BlockList(),
    metrics: metricsOf(options),
  })
}

/** The options of flags and environment. A flag overrides its variable, and the variable the default (contract C1). */
export type Config = ReturnType<typeof documentConfigOf>

/** @throws ProgramError */
const requireForPostgres = ({ voucherKey, signingKey }: Config): void => {
  if (!voucherKey || !signingKey) {
    const missing = variableOf(voucherKey ? 'signingKey' : 'voucherKey')
    throw misused(`--postgres needs the keys that all servers share\nSet ${missing}, or ${missing}_FILE.`)
  }
}

/** The PostgreSQL that holds the data, if one does. @throws ProgramError */
const findPostgres = (option?: string): PostgresTarget | undefined => {
  const url = findSecret('postgres', option, true)
  const target = url === undefined ? undefined : parsePostgresUrl(url)
  if (target?.password !== undefined && isFlag('postgres', option)) {
    throw misused(
      'any user of this machine can read the password in --postgres\nSet SCRIP_POSTGRES or SCRIP_POSTGRES_FILE.',
    )
  }
  return target
}

/** A file, or a name. @throws ProgramError */
const scenarioOf = ({ scenario, snapshot }: ServeOptions): string | undefined => {
  if (scenario !== undefined && snapshot !== undefined) {
    throw misused('--scenario and --snapshot cannot be used together\nLeave one out.')
  }
  return scenario
}

/** @throws ProgramError, which never contains the key */
const findKey = (name: string, isPrivate: boolean, option?: string): Uint8Array | undefined => {
  const bytes = findSecretBytes(name, option, isPrivate)
  if (bytes === undefined) return undefined
  const isText = /^[\x20-\x7e\s]*$/.test(bytes.toString('latin1'))
  const key = bytes.length === KEY_BYTES && !isText ? bytes : parseKey(bytes.toString('utf8'), KEY_BYTES)
  if (!key)
    throw misused(`${variableOf(name)} is not a key\nA key is ${KEY_BYTES} bytes as hexadecimal digits or base64.`)
  return key
}

export const findNewVoucherKey = (): Uint8Array | undefined => findKey('newVoucherKey', true)

/** Metrics are for operators, and never share the port of the API. @throws ProgramError */
const metricsOf = ({ port, metricsHost: host, metricsPort }: ServeOptions) => {
  if (metricsPort === undefined) {
    if (host === LOOPBACK) return undefined
    throw misused('--metrics-host needs a port\nSet --metrics-port, too.')
  }
  if (metricsPort !== 0 && metricsPort === portOf(port)) {
    throw misused(`--metrics-port ${metricsPort} is the port of the API\nUse another port for metrics.`)
  }
  return { host, port: metricsPort }
}

/** The configuration without flags and variables: a sandbox in memory. */
export const defaultConfig = (): Config => documentConfigOf(defaultsOf(SERVE_OPTIONS) as ServeOptions)

/** The password is not a flag: everyone on the machine can read flags. @throws ProgramError */
export const compareConfigOf = (url: string, { username, json }: CompareOptions) => ({
  url,
  username,
  password: findSecret('password') ?? DEFAULT_CREDENTIAL,
  format: json ? ('json' as const) : ('text' as const),
})

export type CompareConfig = ReturnType<typeof compareConfigOf>

/** The address and credentials with which a command uses a sandbox. @throws ProgramError */
export const sandboxAccessOf = ({ url, world }: TriggerOptions) => ({
  url,
  world: world?.replace(/^sbx_/, ''),
  /** The password of the default world, and of a world that its first login creates. */
  password: findSecret('password') ?? DEFAULT_CREDENTIAL,
  token: findSecret('sandboxToken'),
})

/** Rate limits are off: an agent tries out what works. @throws ProgramError */
export const mcpConfigOf = ({ url, ...options }: McpOptions) => {
  const [unfit] = Object.keys(options)
  if (url !== undefined && unfit !== undefined)
    throw misused(
      `${flagOf(unfit)} needs a new sandbox, and --url names a running one\nLeave out --url, or ${flagOf(unfit)}.`,
    )
  const ownConfig = configOf({ ...(defaultsOf(SERVE_OPTIONS) as ServeOptions), ...options, port: 0, rateLimit: 'off' })
  return { url, sandbox: { ...ownConfig, logLevel: 'warn' as const }, token: ownConfig.sandboxToken }
}

export type McpConfig = ReturnType<typeof mcpConfigOf>

/** The variable PORT belongs to the command. @throws ProgramError */
export const runConfigOf = (options: RunOptions) => {
  if (options.mode === 'live') {
    const advice = setBy('mode') === variableOf('mode') ? `Unset ${variableOf('mode')}: it` : 'It'
    throw misused(`scrip run has no --mode live\n${advice} always starts a sandbox.`)
  }
  return Object.freeze({
    ...configOf({ ...options, port: options.port ?? 0 }),
    explore: options.explore ? exploreConfigOf(options) : undefined,
    /** The flag or the variable that names the data folder. */
    dataDirBy: setBy('dataDir'),
    evidence: evidenceConfigOf(options),
  })
}

/** The reports of a run; undefined if nobody asked for them. @throws ProgramError */
const evidenceConfigOf = ({ coverage, coverageMin, journal, on, summary }: RunOptions) => {
  const files = [coverage, journal, summary].filter((file) => file !== undefined).map((file) => resolve(file))
  if (new Set(files).size < files.length)
    throw misused('two reports would be written to the same file\nUse another file for each report.')
  const summaryFile = summary ?? pipelineSummary()
  return {
    /** `-` is standard error. */
    coverageFile: coverage,
    coveragePercentMin: coverageMin,
    journalFile: journal,
    on,
    summary:
      summaryFile === undefined || summaryFile === 'off'
        ? undefined
        : { file: summaryFile, isGiven: summary !== undefined },
  }
}

export type RunConfig = ReturnType<typeof runConfigOf>

/** Options of one server or one run: an exploration has many. */
const NOT_EXPLORED = ['dataDir', 'port', 'readyFile', 'metricsPort', 'coverage', 'coverageMin', 'journal'] as const

/** @throws ProgramError */
const exploreConfigOf = (options: RunOptions) => {
  const unfit = NOT_EXPLORED.find((name) => options[name] !== undefined)
  if (unfit)
    throw misused(
      `${setBy(unfit)} cannot be used with --explore, which runs the command many times\nLeave one of them out.`,
    )
  return { writesMax: options.exploreMax, jobs: options.exploreJobs, timeoutMs: options.exploreTimeout }
}

export type ExploreConfig = RunConfig & { explore: NonNullable<RunConfig['explore']> }

/** @throws ProgramError when no folder is named */
export const dataConfigOf = (options: DataOptions) => {
  if (options.dataDir === undefined) {
    throw misused('no data folder is given\nSet --data-dir, or the variable SCRIP_DATA_DIR.')
  }
  return { ...fileConfigOf(options), dataDir: options.dataDir }
}

export type DataConfig = ReturnType<typeof dataConfigOf>

/** The folder of a command that also works without one. @throws ProgramError */
export const fileConfigOf = (options: DataOptions) => ({
  dataDir: options.dataDir,
  voucherKey: findKey('voucherKey', true),
  signingKey: findKey('signingKey', true),
  postgres: findPostgres(),
  format: options.json ? ('json' as const) : options.csv ? ('csv' as const) : ('text' as const),
})

export const healthUrlOf = ({ host, port, url }: HealthOptions): string => url ?? urlOf(host, portOf(port))

export const urlOf = (host: string, port: number): string => {
  const reached = REACHED_AT[host] ?? host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Addresses that stand for all addresses of the machine. */
const REACHED_AT: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
