import {
  parseCount,
  parseDuration,
  parseFee,
  parseLimits,
  parseNetworks,
  parsePercent,
  parsePort,
  parseSize,
  parseText,
  parseUrl,
} from './values.ts'

/** All options (decision 0045). Flag and variable follow from the name: `--rate-limit` and `SCRIP_RATE_LIMIT`. */

export type Mode = 'sandbox' | 'live'
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LOOPBACK = '127.0.0.1'

export interface OptionSpec {
  meaning: string
  /** What help calls its value. A switch has none. */
  value?: string
  read?: (text: string, previous: unknown) => unknown
  choices?: readonly string[]
  /** As it would be written on the command line. */
  default?: string
  /** What help says in place of a default. */
  unset?: string
  /** The only mode in which it has a meaning. */
  onlyIn?: Mode
  /** A file can hold it, named by the variable with `_FILE`. Live mode does not take it from a flag. */
  isSecret?: true
  /** The variable belongs to a server beside this one. */
  isFlagOnly?: true
  /** Left out of help: the command refuses it, and says why. */
  isHidden?: true
}
type OptionTable = Readonly<Record<string, OptionSpec>>

const ADDRESS = {
  host: { value: '<address>', meaning: 'address to bind', read: parseText, default: LOOPBACK },
  port: {
    value: '<number>',
    meaning: 'port to bind; 0 takes a free one; the variable PORT is honoured too',
    read: parsePort,
    unset: '4747',
  },
} as const satisfies OptionTable

export const SERVE_OPTIONS = {
  ...ADDRESS,
  mode: { value: '<mode>', meaning: 'run mode', choices: ['sandbox', 'live'], default: 'sandbox' },
  dataDir: { value: '<folder>', meaning: 'folder to keep data in', read: parseText, unset: 'in memory' },
  catalog: { value: '<file>', meaning: 'your own catalog, as JSON', read: parseText },
  rates: { value: '<file>', meaning: 'your own exchange rates, as JSON', read: parseText },
  rateLimit: {
    value: '<limits>',
    meaning: 'rate limits per client, or off',
    read: parseLimits,
    default: '1000/h,100/m', // spec section 8
  },
  accessTtl: { value: '<time>', meaning: 'lifetime of access tokens', read: parseDuration, default: '1h' },
  refreshTtl: { value: '<time>', meaning: 'lifetime of refresh tokens', read: parseDuration, default: '7d' },
  chargeTtl: { value: '<time>', meaning: 'how long a calculated charge is held', read: parseDuration, default: '5m' },
  conversionFee: {
    value: '<percent>',
    meaning: 'fee for paying in another currency, in live mode',
    read: parseFee,
    default: '0.5', // contract C9
    onlyIn: 'live',
  },
  payoutFee: {
    value: '<percent>',
    meaning: 'fee on each payout, in live mode',
    read: parseFee,
    default: '1.5', // contract C13
    onlyIn: 'live',
  },
  logFormat: { value: '<format>', meaning: 'log format', choices: ['pretty', 'json'], default: 'pretty' },
  logLevel: {
    value: '<level>',
    meaning: 'minimum log level',
    choices: LOG_LEVELS,
    unset: 'info in live mode and on a terminal, else warn',
  },
  takeOver: {
    meaning: 'take over from the server that runs on the data folder, without an outage, in live mode',
    unset: 'false',
    onlyIn: 'live',
  },
  readyFile: { value: '<file>', meaning: 'file to write the URL to once the server is ready', read: parseText },
  seed: {
    value: '<text>',
    meaning: 'seed for ids and codes: the same seed gives the same ones',
    read: parseText,
    onlyIn: 'sandbox',
  },
  sandboxToken: {
    value: '<token>',
    meaning: 'token for /_sandbox; required unless bound to loopback',
    read: parseText,
    onlyIn: 'sandbox',
    isSecret: true,
  },
  voucherKey: {
    value: '<key>',
    meaning: 'key that seals voucher codes: 32 bytes as hex or base64; in live mode, use the variable or a file',
    unset: 'voucher.key in the data folder, created at the first start',
    isSecret: true,
  },
  snapshot: { value: '<file>', meaning: 'snapshot to start every world from', read: parseText, onlyIn: 'sandbox' },
  scenario: {
    value: '<file>',
    meaning: 'scenario that every world begins with: a file, or a name of scrip scenario list',
    read: parseText,
    onlyIn: 'sandbox',
  },
  strict: { meaning: 'refuse unknown members and parameters, in the sandbox', unset: 'false', onlyIn: 'sandbox' },
  memory: {
    value: '<size>',
    meaning: 'memory for all worlds of the sandbox and their request logs',
    read: parseSize,
    default: '1GiB',
    onlyIn: 'sandbox',
  },
  publicUrl: { value: '<url>', meaning: 'URL under which clients reach the server', read: parseUrl },
  trustedProxy: {
    value: '<networks>',
    meaning: 'proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8,fd00::/8; may be repeated',
    read: parseNetworks,
    unset: 'none',
  },
  webhookAllow: {
    value: '<networks>',
    meaning: 'networks to which webhooks may be delivered besides those of the mode; may be repeated',
    read: parseNetworks,
    unset: 'none',
  },
  metricsPort: { value: '<number>', meaning: 'port of /metrics; 0 takes a free one', read: parsePort, unset: 'off' },
  metricsHost: { value: '<address>', meaning: 'address to bind /metrics to', read: parseText, default: LOOPBACK },
} as const satisfies OptionTable

export const RUN_OPTIONS = {
  ...SERVE_OPTIONS,
  port: {
    ...ADDRESS.port,
    meaning: 'port to bind; 0 takes a free one; the variables PORT and SCRIP_PORT are left to the command',
    unset: '0',
    isFlagOnly: true,
  },
  mode: { ...SERVE_OPTIONS.mode, isHidden: true },
  conversionFee: { ...SERVE_OPTIONS.conversionFee, isHidden: true },
  payoutFee: { ...SERVE_OPTIONS.payoutFee, isHidden: true },
  takeOver: { ...SERVE_OPTIONS.takeOver, isHidden: true },
  rateLimit: { ...SERVE_OPTIONS.rateLimit, default: 'off' },
  logLevel: { value: '<level>', meaning: 'minimum log level', choices: LOG_LEVELS, default: 'warn' },
  world: { value: '<name>', meaning: 'log in to a world of this name instead of the default one', read: parseText },
  coverage: {
    value: '<file>',
    meaning: 'write a coverage report of the documented outcomes: JSON to *.json, else text; - is standard error',
    read: parseText,
  },
  coverageMin: {
    value: '<percent>',
    meaning: 'exit with 1 if fewer documented outcomes were exercised: 60%',
    read: parsePercent,
  },
  explore: {
    meaning: 'run the command again for each fault that a network can have, and report what was bought twice',
  },
  exploreMax: { value: '<number>', meaning: 'maximum number of writes to explore', read: parseCount, default: '500' },
  exploreJobs: {
    value: '<number>',
    meaning: 'how many runs go on at the same time',
    read: parseCount,
    unset: 'as many as keep the processors busy',
  },
  exploreTimeout: {
    value: '<time>',
    meaning: 'time limit of a run',
    read: parseDuration,
    unset: 'ten times the first run, at least 30s',
  },
  coverageBase: {
    value: '<file>',
    meaning: 'compare with a coverage report, as JSON, of another branch',
    read: parseText,
  },
  coverageNoLess: { meaning: 'exit with 1 if fewer documented outcomes were exercised than in --coverage-base' },
  journal: {
    value: '<file>',
    meaning: 'write the requests of all worlds: HAR to *.har, else a JSON object per line',
    read: parseText,
  },
  junit: { value: '<file>', meaning: 'write the documented outcomes as JUnit XML', read: parseText },
  capsule: { value: '<file>', meaning: 'write all worlds and requests to one file for scrip open', read: parseText },
  summary: {
    value: '<file>',
    meaning: 'write a summary as Markdown',
    read: parseText,
    unset: 'the job summary of GitHub Actions, if there is one',
  },
  on: {
    value: '<when>',
    meaning: 'when to write journal, JUnit XML, capsule and summary',
    choices: ['failure', 'always'],
    default: 'always',
  },
} as const satisfies OptionTable

const { mode, dataDir, snapshot, scenario, seed, ...OPENED } = SERVE_OPTIONS

/** A capsule has worlds and a seed of its own, and their clocks stand still: limits would not refill. */
export const OPEN_OPTIONS = {
  ...OPENED,
  conversionFee: { ...SERVE_OPTIONS.conversionFee, isHidden: true },
  payoutFee: { ...SERVE_OPTIONS.payoutFee, isHidden: true },
  takeOver: { ...SERVE_OPTIONS.takeOver, isHidden: true },
  rateLimit: { ...SERVE_OPTIONS.rateLimit, default: 'off' },
} as const satisfies OptionTable

export const DEFAULT_CREDENTIAL = 'sandbox'

export const COMPARE_OPTIONS = {
  username: {
    value: '<name>',
    meaning: 'username to log in with; the password is in SCRIP_PASSWORD or the file of SCRIP_PASSWORD_FILE',
    read: parseText,
    default: DEFAULT_CREDENTIAL,
  },
} as const satisfies OptionTable

export const DATA_OPTIONS = {
  dataDir: { value: '<folder>', meaning: 'data folder of the server', read: parseText },
} as const satisfies OptionTable

export const HEALTH_OPTIONS = ADDRESS

export const WAIT_OPTIONS = {
  ...ADDRESS,
  timeout: { value: '<time>', meaning: 'maximum time to wait', read: parseDuration, default: '30s' },
} as const satisfies OptionTable

export const TRIGGER_OPTIONS = {
  url: { value: '<url>', meaning: 'URL of the sandbox', read: parseUrl, default: 'http://127.0.0.1:4747' },
  world: {
    value: '<name>',
    meaning: 'a world of this name instead of the default one; a password other than sandbox is in SCRIP_PASSWORD',
    read: parseText,
  },
} as const satisfies OptionTable

export const LISTEN_OPTIONS = {
  ...TRIGGER_OPTIONS,
  events: {
    value: '<patterns>',
    meaning: 'types of events, such as order.*,payout.completed',
    read: parseText,
    default: '*',
  },
  forward: { value: '<url>', meaning: 'URL of a receiver to pass them on to', read: parseUrl },
} as const satisfies OptionTable

export const MCP_OPTIONS = {
  url: { value: '<url>', meaning: 'URL of a sandbox that runs', read: parseUrl, unset: 'a sandbox of its own' },
  seed: SERVE_OPTIONS.seed,
  scenario: SERVE_OPTIONS.scenario,
  snapshot: SERVE_OPTIONS.snapshot,
} as const satisfies OptionTable

/** Of a table, as if nothing were given. */
export const defaultsOf = (table: OptionTable): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, { default: text, read }]) =>
      text === undefined ? [] : [[name, read ? read(text, undefined) : text]],
    ),
  )

type ValueOf<Spec> = Spec extends { choices: readonly (infer Choice)[] }
  ? Choice
  : Spec extends { read: (text: string, previous: never) => infer Value }
    ? Value
    : Spec extends { value: string }
      ? string
      : true

/** An option without a default may be missing. */
type ValuesOf<Table> = {
  -readonly [Name in keyof Table as Table[Name] extends { default: string } ? Name : never]: ValueOf<Table[Name]>
} & {
  -readonly [Name in keyof Table as Table[Name] extends { default: string } ? never : Name]?: ValueOf<Table[Name]>
}

export type ServeOptions = ValuesOf<typeof SERVE_OPTIONS>
export type RunOptions = ValuesOf<typeof RUN_OPTIONS>
export type DataOptions = ValuesOf<typeof DATA_OPTIONS> & { json?: true; csv?: true }
export type OpenOptions = ValuesOf<typeof OPEN_OPTIONS>
export type CompareOptions = ValuesOf<typeof COMPARE_OPTIONS> & { json?: true }
export type HealthOptions = ValuesOf<typeof HEALTH_OPTIONS> & { url?: string }
export type TriggerOptions = ValuesOf<typeof TRIGGER_OPTIONS>
export type ListenOptions = ValuesOf<typeof LISTEN_OPTIONS>
export type McpOptions = ValuesOf<typeof MCP_OPTIONS>
export type WaitOptions = ValuesOf<typeof WAIT_OPTIONS> & HealthOptions
