import { readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { addNetwork } from '../http/client-address.ts'
import { type BucketSize, DOCUMENTED_LIMITS } from '../http/rate-limit.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/clock.ts'
import { parseKey } from '../kernel/keys.ts'

/**
 * Flags and environment become one frozen {@link Config}. Every flag has a variable (`--rate-limit` is
 * `SCRIP_RATE_LIMIT`); a flag outranks its variable, and that the default (contract C1). Nothing else reads the
 * environment.
 */

export type Mode = 'sandbox' | 'live'
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

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

/** Something wrong with how the program was called: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Variables that `scrip run` gives its child: known, and without a meaning here (contract C1, C15). */
const CHILD_VARIABLES = ['SCRIP_URL', 'SCRIP_USERNAME', 'SCRIP_PASSWORD', 'SCRIP_ACCESS_TOKEN']
/** Variables of other commands: a shell that sets one for `scrip run` or `scrip wait` runs `scrip serve`, too. */
const OTHER_COMMANDS_VARIABLES = ['SCRIP_COVERAGE', 'SCRIP_FAIL_UNDER', 'SCRIP_WORLD', 'SCRIP_TIMEOUT']
const SECRET_FILE_SUFFIX = '_FILE'
const SANDBOX_TOKEN_VARIABLE = 'SCRIP_SANDBOX_TOKEN'
const VOUCHER_KEY_VARIABLE = 'SCRIP_VOUCHER_KEY'
/** The key that takes its place, for `scrip vouchers rekey`. */
const NEW_VOUCHER_KEY_VARIABLE = 'SCRIP_NEW_VOUCHER_KEY'
const VOUCHER_KEY_BYTES = 32
const DEFAULT_PORT = 4747
const LOOPBACK = '127.0.0.1'
const PORT_DEFAULT = `the variable PORT is honoured too (default: ${DEFAULT_PORT})`

/** The names of the variables that mean something, for telling a mistyped one. */
const knownVariables = new Set([
  ...CHILD_VARIABLES,
  ...OTHER_COMMANDS_VARIABLES,
  SANDBOX_TOKEN_VARIABLE + SECRET_FILE_SUFFIX,
  VOUCHER_KEY_VARIABLE + SECRET_FILE_SUFFIX,
  NEW_VOUCHER_KEY_VARIABLE,
  NEW_VOUCHER_KEY_VARIABLE + SECRET_FILE_SUFFIX,
])

/** How the option that commander calls `rateLimit` is written: `--rate-limit`, `SCRIP_RATE_LIMIT`. */
const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`
const variableOf = (name: string): string => `SCRIP_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`

const option = (flags: string, description: string): Option => {
  const created = new Option(flags, description)
  const variable = variableOf(created.attributeName())
  knownVariables.add(variable)
  return created.env(variable)
}

/** Gives a command the flags that say where the program is bound. */
const withAddressOptions = (command: Command, portDefault: string = PORT_DEFAULT): Command =>
  command
    .addOption(option('--host <address>', 'address to bind').argParser(parseText).default(LOOPBACK))
    .addOption(option('--port <number>', `port to bind; 0 takes a free one; ${portDefault}`).argParser(parsePort))

const voucherKeyOption = (): Option =>
  option(
    '--voucher-key <key>',
    'seals voucher codes: 32 bytes as hex or base64; in live mode only as a variable or a file (default: voucher.key in the data folder, made at the first start)',
  )

/** A key that is given, else that of a variable or its file. @throws UsageError; the key itself is never told */
const keyOf = (variable: string, given: string | undefined): Uint8Array | undefined => {
  const text = given ?? process.env[variable] ?? secretFromFile(variable)
  if (text === undefined) return undefined
  const key = parseKey(text, VOUCHER_KEY_BYTES)
  if (!key) throw new UsageError(`${variable} is ${VOUCHER_KEY_BYTES} bytes as hexadecimal digits or base64`)
  return key
}

const voucherKeyOf = (given?: string): Uint8Array | undefined => keyOf(VOUCHER_KEY_VARIABLE, given)

/** The key that codes are to be sealed with from now on. @throws UsageError */
export const newVoucherKeyOf = (): Uint8Array | undefined => keyOf(NEW_VOUCHER_KEY_VARIABLE, undefined)

/** Requests are logged at the level info: on record in live mode, and where a person looks on. */
const LOG_LEVEL_DEFAULT = ' (default: info in live mode and on a terminal, else warn)'

/** Gives a command the flags of `scrip serve`. */
export const withServeOptions = (command: Command, logLevel?: LogLevel, portDefault?: string): Command =>
  withAddressOptions(command, portDefault)
    .addOption(
      option('--mode <mode>', 'sandbox for tests, or live for real records')
        .choices(['sandbox', 'live'])
        .default('sandbox'),
    )
    .addOption(option('--data-dir <folder>', 'folder to keep data in (default: in memory)').argParser(parseText))
    .addOption(option('--catalog <file>', 'your own catalog, as JSON').argParser(parseText))
    .addOption(option('--rates <file>', 'your own exchange rates, as JSON').argParser(parseText))
    .addOption(
      option('--rate-limit <limits>', 'rate limits per client, or off')
        .argParser(parseLimits)
        .default(DOCUMENTED_LIMITS, '1000/h,100/m'),
    )
    .addOption(option('--access-ttl <time>', 'lifetime of access tokens').argParser(parseTtl).default(HOUR_MS, '1h'))
    .addOption(
      option('--refresh-ttl <time>', 'lifetime of refresh tokens')
        .argParser(parseTtl)
        .default(7 * DAY_MS, '7d'),
    )
    .addOption(
      option('--charge-ttl <time>', 'how long a calculated charge is held')
        .argParser(parseTtl)
        .default(5 * MINUTE_MS, '5m'),
    )
    .addOption(
      option('--conversion-fee <percent>', 'fee for paying in another currency, in live mode (default: 0.5)').argParser(
        parseFee,
      ),
    )
    .addOption(option('--payout-fee <percent>', 'fee on each payout, in live mode (default: 1.5)').argParser(parseFee))
    .addOption(option('--log-format <format>', 'log format').choices(['pretty', 'json']).default('pretty'))
    .addOption(
      option('--log-level <level>', `minimum log level${logLevel ? '' : LOG_LEVEL_DEFAULT}`)
        .choices(LOG_LEVELS)
        .default(logLevel),
    )
    .addOption(option('--ready-file <file>', 'file to write the URL to once the server is ready').argParser(parseText))
    .addOption(
      option('--seed <text>', 'seed for ids and codes: the same seed gives the same ones').argParser(parseText),
    )
    .addOption(
      option('--sandbox-token <token>', 'token for /_sandbox; required if not bound to loopback').argParser(parseText),
    )
    .addOption(voucherKeyOption())
    .addOption(option('--snapshot <file>', 'snapshot to start every world from').argParser(parseText))
    .addOption(option('--strict', 'refuse unknown members and parameters, in the sandbox (default: false)'))
    .addOption(
      option('--memory <size>', 'memory for all worlds of the sandbox and their journals (default: 1GiB)').argParser(
        parseSize,
      ),
    )
    .addOption(option('--public-url <url>', 'URL under which clients reach the server').argParser(parseUrl))
    .addOption(
      option(
        '--trusted-proxy <networks>',
        'proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8,fd00::/8; may be repeated (default: none)',
      ).argParser(parseNetworks),
    )
    .addOption(
      option('--metrics-port <number>', 'port of /metrics; 0 takes a free one (default: off)').argParser(parsePort),
    )
    .addOption(option('--metrics-host <address>', 'address to bind /metrics to').argParser(parseText).default(LOOPBACK))

/** The options of `scrip serve` as commander has read them. */
export interface ServeOptions {
  host: string
  port?: number
  mode: Mode
  dataDir?: string
  catalog?: string
  rates?: string
  rateLimit: readonly BucketSize[] | 'off'
  accessTtl: number
  refreshTtl: number
  chargeTtl: number
  conversionFee?: number
  payoutFee?: number
  logFormat: 'pretty' | 'json'
  logLevel?: LogLevel
  readyFile?: string
  seed?: string
  sandboxToken?: string
  voucherKey?: string
  snapshot?: string
  strict?: true
  memory?: number
  publicUrl?: string
  trustedProxy?: BlockList
  metricsPort?: number
  metricsHost: string
}

/** Flags that have a meaning in one mode only. They have no default here: one that is there was given. */
export const ONLY_IN = {
  seed: 'sandbox',
  sandboxToken: 'sandbox',
  snapshot: 'sandbox',
  strict: 'sandbox',
  memory: 'sandbox',
  conversionFee: 'live',
  payoutFee: 'live',
} as const satisfies Partial<Record<keyof ServeOptions, Mode>>

/** Flags whose value is a secret. */
const SECRETS = ['voucherKey'] as const satisfies readonly (keyof ServeOptions)[]

/** @throws UsageError when a flag or a variable has no meaning in the mode, or may not be given in this way */
const refuseMeaningless = (options: ServeOptions): void => {
  refuseUnknownVariables()
  for (const [name, mode] of Object.entries(ONLY_IN) as [keyof typeof ONLY_IN, Mode][]) {
    if (mode === options.mode) continue
    const variables = [variableOf(name), variableOf(name) + SECRET_FILE_SUFFIX]
    const given = variables.find((variable) => process.env[variable] !== undefined)
    if (options[name] === undefined && given === undefined) continue
    throw new UsageError(`${given ?? flagOf(name)} has no meaning in ${options.mode} mode`)
  }
  if (options.mode !== 'live') return
  const shown = SECRETS.find((name) => options[name] !== process.env[variableOf(name)])
  if (shown === undefined) return
  const variable = variableOf(shown)
  throw new UsageError(
    `every user of the machine can read ${flagOf(shown)}: in live mode, set ${variable} or ${variable}${SECRET_FILE_SUFFIX}`,
  )
}

/** A flag without a value is on when its variable is 1, and not merely because there is a variable. @throws UsageError */
const refuseOddSwitches = (): void => {
  const value = process.env.SCRIP_STRICT
  if (value !== undefined && value !== '1' && value !== 'true') {
    throw new UsageError(`SCRIP_STRICT is 1, true, or not set: ${value}`)
  }
}

/** The fees of the sandbox, and of live mode unless they are set (contract C9). */
const CONVERSION_BASIS_POINTS = 50
const PAYOUT_FEE_BASIS_POINTS = 150
/** Real money is not spent at prices older than this (contract C12). */
const LIVE_CHARGE_TTL_MS_MAX = HOUR_MS

/** @throws UsageError when options do not go together, or a variable has no meaning */
export const configOf = (options: ServeOptions): Config => {
  refuseMeaningless(options)
  refuseOddSwitches()
  if (options.mode === 'live' && options.dataDir === undefined) {
    throw new UsageError('--mode live keeps real records: set --data-dir')
  }
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
    conversionBasisPoints: options.conversionFee ?? CONVERSION_BASIS_POINTS,
    payoutFeeBasisPoints: options.payoutFee ?? PAYOUT_FEE_BASIS_POINTS,
    logFormat: options.logFormat,
    logLevel: options.logLevel ?? (options.mode === 'live' || process.stderr.isTTY ? 'info' : 'warn'),
    readyFile: options.readyFile,
    seed: options.seed,
    sandboxToken: options.sandboxToken ?? secretFromFile(SANDBOX_TOKEN_VARIABLE),
    voucherKey: voucherKeyOf(options.voucherKey),
    snapshotFile: options.snapshot,
    strict: options.strict ?? false,
    memoryBytesMax: options.memory ?? MEMORY_BYTES_DEFAULT,
    publicUrl: options.publicUrl,
    trustedProxies: options.trustedProxy ?? new BlockList(),
    metrics: metricsOf(options),
  })
}

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

/** Gives a command the flags of `scrip run`: those of `scrip serve`, and its own. */
export const withRunOptions = (command: Command): Command =>
  withServeOptions(command, 'warn', 'the variable PORT is left to the command (default: 0)')
    .addOption(
      option(
        '--coverage <file>',
        'write a coverage report of the documented outcomes, as JSON to *.json, else as a table; - is standard error',
      ).argParser(parseText),
    )
    .addOption(
      option('--fail-under <percent>', 'exit with 1 if fewer documented outcomes were exercised').argParser(
        parsePercent,
      ),
    )
    .addOption(
      option('--world <name>', 'log in to a world of this name instead of the default one').argParser(parseText),
    )

/** The options of `scrip run` as commander has read them. */
export interface RunOptions extends ServeOptions {
  coverage?: string
  failUnder?: number
  world?: string
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

/** Gives a command the flags that say which data it administers, and how it answers. */
export const withDataOptions = (command: Command): Command =>
  command
    .addOption(option('--data-dir <folder>', 'data folder of the server').argParser(parseText))
    .option('--json', 'print JSON, for scripts')

/** The options of an administrative command as commander has read them. */
export interface DataOptions {
  dataDir?: string
  json?: true
}

/** Which data a command administers, and how it answers. */
export interface DataConfig {
  dataDir: string
  voucherKey: Uint8Array | undefined
  json: boolean
}

/** @throws UsageError when no folder is named, or a variable has no meaning */
export const dataConfigOf = (options: DataOptions): DataConfig => {
  if (options.dataDir === undefined) {
    refuseUnknownVariables()
    throw new UsageError('say whose data: --data-dir, or the variable SCRIP_DATA_DIR')
  }
  return { ...fileConfigOf(options), dataDir: options.dataDir }
}

/** As {@link dataConfigOf}, for commands that do without a folder. @throws UsageError */
export const fileConfigOf = (options: DataOptions): Omit<DataConfig, 'dataDir'> & { dataDir: string | undefined } => {
  refuseUnknownVariables()
  return { dataDir: options.dataDir, voucherKey: voucherKeyOf(), json: options.json ?? false }
}

/** Gives a command the flags of `scrip health`. */
export const withHealthOptions = (command: Command): Command =>
  withAddressOptions(command).option('--url <url>', 'URL of the server, instead of --host and --port', parseUrl)

/** Gives a command the flags of `scrip wait`. */
export const withWaitOptions = (command: Command): Command =>
  withHealthOptions(command).addOption(
    option('--timeout <time>', 'maximum time to wait')
      .argParser(parseTtl)
      .default(30 * SECOND_MS, '30s'),
  )

/** The options of `scrip health` as commander has read them. */
export interface HealthOptions {
  host: string
  port?: number
  url?: string
}

/** The options of `scrip wait` as commander has read them. */
export interface WaitOptions extends HealthOptions {
  /** In milliseconds. */
  timeout: number
}

/** The address of the server whose health is asked for. @throws UsageError */
export const healthUrlOf = ({ host, port, url }: HealthOptions): string => {
  refuseUnknownVariables()
  return url ?? urlOf(host, portOf(port))
}

/** How a bound address is reached from this machine. */
export const urlOf = (host: string, port: number): string => {
  const reached = REACHED_AT[host] ?? host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Addresses that stand for all of a machine's own. */
const REACHED_AT: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Whether colours are wanted: on terminals, unless NO_COLOR says otherwise. */
export const wantsColor = (isTerminal: boolean): boolean => isTerminal && !process.env.NO_COLOR

const refuseUnknownVariables = (): void => {
  const unknown = Object.keys(process.env).filter((name) => name.startsWith('SCRIP_') && !knownVariables.has(name))
  if (unknown.length > 0) throw new UsageError(`no such variable: ${unknown.join(', ')}; see scrip serve --help`)
}

const secretFromFile = (variable: string): string | undefined => {
  const path = process.env[variable + SECRET_FILE_SUFFIX]
  if (path === undefined) return undefined
  let secret: string
  try {
    secret = readFileSync(path, 'utf8').trim()
  } catch {
    throw new UsageError(`${variable}${SECRET_FILE_SUFFIX}: cannot read ${path}`)
  }
  if (secret === '') throw new UsageError(`${variable}${SECRET_FILE_SUFFIX}: ${path} is empty`)
  return secret
}

const parsePort = (text: string): number => {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return port
}

/** The port of the flag or its variable, else the bare PORT that platforms set, else the default. */
const portOf = (given: number | undefined): number => {
  const bare = process.env.PORT
  if (given !== undefined || !bare) return given ?? DEFAULT_PORT
  try {
    return parsePort(bare)
  } catch {
    throw new UsageError(`the variable PORT is no port: ${bare}`)
  }
}

const parseText = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('It is empty.')
  return text
}

/** A hundred years: beyond it the times that tokens expire at leave the four-digit years. */
const TTL_MS_MAX = 36_500 * DAY_MS
const UNITS_MS: Record<string, number> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }

const parseTtl = (text: string): number => {
  const match = /^([1-9]\d{0,6})([smhd])$/.exec(text)
  const unitMs = UNITS_MS[match?.[2] ?? '']
  if (!match || unitMs === undefined) throw new InvalidArgumentError('A time is a number and a unit: 30s, 5m, 1h, 7d.')
  const ttlMs = Number(match[1]) * unitMs
  if (ttlMs > TTL_MS_MAX) throw new InvalidArgumentError('A time is at most 36500d.')
  return ttlMs
}

const MEMORY_BYTES_DEFAULT = 1_073_741_824
/** Less would hold a few worlds only. */
const MEMORY_BYTES_MIN = 67_108_864
const UNITS_BYTES: Record<string, number> = { MiB: 1_048_576, GiB: 1_073_741_824 }

const parseSize = (text: string): number => {
  const match = /^([1-9]\d{0,5})(MiB|GiB)$/.exec(text)
  const unitBytes = UNITS_BYTES[match?.[2] ?? '']
  if (!match || unitBytes === undefined) throw new InvalidArgumentError('A size is a number and a unit: 512MiB, 1GiB.')
  const bytes = Number(match[1]) * unitBytes
  if (bytes < MEMORY_BYTES_MIN) throw new InvalidArgumentError('The memory is at least 64MiB.')
  return bytes
}

const parseLimits = (text: string): readonly BucketSize[] | 'off' => {
  if (text === 'off') return 'off'
  return text.split(',').map((part) => {
    const match = /^([1-9]\d{0,7})\/([smhd])$/.exec(part.trim())
    const refillMs = UNITS_MS[match?.[2] ?? '']
    if (!match || refillMs === undefined) throw new InvalidArgumentError('Limits look like 1000/h,100/m, or off.')
    return { tokens: Number(match[1]), refillMs }
  })
}

/** A percentage in basis points. */
const parseFee = (text: string): number => {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text)
  const basisPoints = Number(match?.[1]) * 100 + Number((match?.[2] ?? '').padEnd(2, '0'))
  if (!match || basisPoints > 10_000) {
    throw new InvalidArgumentError('A fee is a percentage from 0 to 100 with at most two decimals.')
  }
  return basisPoints
}

const parseNetworks = (text: string, networks: BlockList = new BlockList()): BlockList => {
  if (!text.split(',').every((part) => addNetwork(networks, part.trim()))) {
    throw new InvalidArgumentError('Networks look like 10.0.0.0/8,fd00::/8.')
  }
  return networks
}

const parsePercent = (text: string): number => {
  if (!/^\d{1,3}(?:\.\d+)?$/.test(text) || Number(text) > 100) {
    throw new InvalidArgumentError('A percentage is a number from 0 to 100.')
  }
  return Number(text)
}

const parseUrl = (text: string): string => {
  if (!/^https?:/.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('A URL looks like https://rewards.example.com.')
  }
  return text.replace(/\/+$/, '')
}
