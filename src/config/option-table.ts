import {
  parseCount,
  parseDuration,
  parseFee,
  parseIssuer,
  parseLimits,
  parseNetworks,
  parseOrigins,
  parsePercent,
  parsePort,
  parseText,
  parseUrl,
} from './values.ts'

/** All options (decision 0045). Flag and variable follow from the name: `--rate-limit` and `SCRIP_RATE_LIMIT`. */

export type Mode = 'sandbox' | 'live'
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The formats that `scrip openapi` writes. */
export const DOCUMENT_FORMATS = ['openapi', 'postman', 'bruno'] as const

export const LOOPBACK = '127.0.0.1'

export interface OptionSpec {
  meaning: string
  /** The name of its value in help. A switch has none. */
  value?: string
  read?: (text: string, previous: unknown) => unknown
  choices?: readonly string[]
  /** The default, as a user would write it on the command line. */
  default?: string
  /** The text in help in place of a default. */
  unset?: string
  /** The only mode that has this option. */
  onlyIn?: Mode
  /** A file can hold it, named by the variable with `_FILE`. Live mode does not take it from a flag. */
  isSecret?: true
  /** A file can hold it, named by the variable with `_FILE`. */
  isInFile?: true
  /** The variable belongs to a server beside this one. */
  isFlagOnly?: true
  /** Left out of help: the command refuses it, and says why. */
  isHidden?: true
}
export type OptionTable = Readonly<Record<string, OptionSpec>>

const text = (value: string, meaning: string) => ({ value, meaning, read: parseText })
const file = (meaning: string) => text('<file>', meaning)
const time = (meaning: string, by: string) => ({ value: '<time>', meaning, read: parseDuration, default: by })
const url = (meaning: string) => ({ value: '<url>', meaning, read: parseUrl })
const port = (meaning: string, unset: string) => ({ value: '<number>', meaning, read: parsePort, unset })
const address = (meaning: string) => ({ ...text('<address>', meaning), default: LOOPBACK })
const fee = (meaning: string, by: string) =>
  ({ value: '<percent>', meaning, read: parseFee, default: by, onlyIn: 'live' }) as const
const networks = (meaning: string) => ({
  value: '<networks>',
  meaning: `${meaning}; may be repeated`,
  read: parseNetworks,
  unset: 'none',
})
const inSandbox = <Spec extends OptionSpec>(spec: Spec) => ({ ...spec, onlyIn: 'sandbox' }) as const
const hidden = <Spec extends OptionSpec>(spec: Spec) => ({ ...spec, isHidden: true }) as const
const flagOnly = <Spec extends OptionSpec>(spec: Spec) => ({ ...spec, isFlagOnly: true }) as const

const ADDRESS = {
  host: address('address to bind'),
  port: port('port to bind; 0 takes a free one; the variable PORT works too', '4747'),
} as const satisfies OptionTable

export const SERVE_OPTIONS = {
  ...ADDRESS,
  mode: { value: '<mode>', meaning: 'run mode', choices: ['sandbox', 'live'], default: 'sandbox' },
  dataDir: { ...text('<folder>', 'folder to keep data in'), unset: 'in memory' },
  catalog: file('your own catalog, as JSON'),
  rates: file('your own exchange rates, as JSON'),
  rateLimit: {
    value: '<limits>',
    meaning: 'rate limits per client, or off',
    read: parseLimits,
    default: '1000/h,100/m', // spec section 8
  },
  accessTtl: time('lifetime of access tokens', '1h'),
  refreshTtl: time('lifetime of refresh tokens', '7d'),
  chargeTtl: time('how long a calculated charge is held', '5m'),
  conversionFee: fee('fee for paying in another currency, in live mode', '0.5'), // contract C9
  payoutFee: fee('fee on each payout, in live mode', '1.5'), // contract C13
  logFormat: { value: '<format>', meaning: 'log format', choices: ['pretty', 'json'], default: 'pretty' },
  logLevel: {
    value: '<level>',
    meaning: 'minimum log level',
    choices: LOG_LEVELS,
    unset: 'info in live mode and on a terminal, else warn',
  },
  check: {
    meaning: 'open, migrate and verify a copy of the data folder, and exit with 0 or 4, in live mode',
    unset: 'false',
    onlyIn: 'live',
  },
  readyFile: file('file to write the URL to once the server is ready'),
  seed: inSandbox(text('<text>', 'seed for ids and codes: the same seed gives the same ones')),
  sandboxToken: {
    ...inSandbox(text('<token>', 'token for /_sandbox; required unless bound to loopback')),
    isSecret: true,
  },
  voucherKey: {
    value: '<key>',
    meaning: 'key that encrypts voucher codes: 32 bytes as hex or base64; in live mode, use the variable or a file',
    unset: 'voucher.key in the data folder, created at the first start',
    isSecret: true,
  },
  signingKey: {
    value: '<key>',
    meaning: 'key that signs tokens in live mode: 32 bytes as hex or base64, in the variable or a file',
    unset: 'signing.key in the data folder, created at the first start',
    onlyIn: 'live',
    isSecret: true,
  },
  postgres: {
    value: '<url>',
    meaning: 'PostgreSQL that holds the record, in live mode; with a password, use the variable or a file',
    unset: 'none: the data folder holds the record',
    onlyIn: 'live',
    isInFile: true,
  },
  snapshot: inSandbox(file('snapshot to start every world from')),
  scenario: inSandbox(file('scenario that every world begins with: a file, or busy-month')),
  strict: inSandbox({ meaning: 'refuse unknown members and parameters, in the sandbox', unset: 'false' }),
  cors: inSandbox({
    value: '<origin>',
    meaning: 'let pages of this origin call the API from a browser; may be repeated',
    read: parseOrigins,
    unset: 'none',
  }),
  publicUrl: url('URL under which clients reach the server'),
  trustedProxy: networks('proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8,fd00::/8'),
  webhookAllow: networks('further networks to which webhooks may be delivered'),
  metricsPort: port('port of /metrics; 0 takes a free one', 'off'),
  metricsHost: address('address to bind /metrics to'),
} as const satisfies OptionTable

/** The options that a command which is always a sandbox refuses, with a reason. Its rate limits are off. */
const OF_SANDBOX = {
  conversionFee: hidden(SERVE_OPTIONS.conversionFee),
  payoutFee: hidden(SERVE_OPTIONS.payoutFee),
  check: hidden(SERVE_OPTIONS.check),
  signingKey: hidden(SERVE_OPTIONS.signingKey),
  postgres: hidden(SERVE_OPTIONS.postgres),
  rateLimit: { ...SERVE_OPTIONS.rateLimit, default: 'off' },
} as const

/** The options that no other command has come first, as in help. */
export const RUN_OPTIONS = {
  coverage: file('write a coverage report of the documented outcomes: JSON to *.json, else text; - is standard error'),
  coverageMin: {
    value: '<percent>',
    meaning: 'exit with 1 if fewer documented outcomes were exercised: 60%',
    read: parsePercent,
  },
  explore: {
    meaning: 'run the command again for each response that can be lost, and report what was bought twice',
  },
  exploreMax: { value: '<number>', meaning: 'maximum number of writes to explore', read: parseCount, default: '500' },
  exploreJobs: {
    value: '<number>',
    meaning: 'number of simultaneous runs',
    read: parseCount,
    unset: 'as many as there are processors',
  },
  exploreTimeout: {
    value: '<time>',
    meaning: 'time limit of a run',
    read: parseDuration,
    unset: 'ten times the first run, at least 30s',
  },
  journal: file('write the requests of all worlds: HAR to *.har, else a JSON object per line'),
  summary: {
    ...file('append a summary in Markdown, of at most 60 lines; off writes none'),
    unset: 'the file in GITHUB_STEP_SUMMARY, if it is set',
  },
  on: {
    value: '<when>',
    meaning: 'when to write journal and coverage',
    choices: ['failure', 'always'],
    default: 'always',
  },
  ...SERVE_OPTIONS,
  ...OF_SANDBOX,
  port: flagOnly(
    port('port to bind; 0 takes a free one; the variables PORT and SCRIP_PORT are left to the command', '0'),
  ),
  mode: hidden(SERVE_OPTIONS.mode),
  logLevel: { value: '<level>', meaning: 'minimum log level', choices: LOG_LEVELS, default: 'warn' },
} as const satisfies OptionTable

export const DEFAULT_CREDENTIAL = 'sandbox'

const JSON_OPTION = { json: flagOnly({ meaning: 'print JSON, for scripts' }) } as const

export const COMPARE_OPTIONS = {
  username: {
    ...text('<name>', 'username to log in with; the password is in SCRIP_PASSWORD or the file of SCRIP_PASSWORD_FILE'),
    default: DEFAULT_CREDENTIAL,
  },
  ...JSON_OPTION,
} as const satisfies OptionTable

export const DATA_OPTIONS = {
  dataDir: text('<folder>', 'data folder of the server'),
  ...JSON_OPTION,
} as const satisfies OptionTable

const SERVER_URL = { url: flagOnly(url('URL of the server, instead of --host and --port')) } as const

export const DESK_OPTIONS = {
  dataDir: DATA_OPTIONS.dataDir,
  deskPort: {
    value: '<number>',
    meaning: 'port to bind on loopback; 0 takes a free one',
    read: parsePort,
    default: '4848',
  },
  readOnly: flagOnly({ meaning: 'show everything, and refuse every act' }),
  issuer: {
    value: '<text>',
    meaning: 'name and address of the operator, on printed statements',
    read: parseIssuer,
    unset: 'none',
  },
} as const satisfies OptionTable

export const HEALTH_OPTIONS = { ...ADDRESS, ...SERVER_URL } as const satisfies OptionTable

export const WAIT_OPTIONS = {
  ...ADDRESS,
  timeout: time('maximum time to wait', '30s'),
  ...SERVER_URL,
} as const satisfies OptionTable

export const TRIGGER_OPTIONS = {
  url: { ...url('URL of the sandbox'), default: 'http://127.0.0.1:4747' },
  world: text(
    '<name>',
    'a world of this name instead of the default one; a password other than sandbox is in SCRIP_PASSWORD',
  ),
} as const satisfies OptionTable

export const LISTEN_OPTIONS = {
  url: TRIGGER_OPTIONS.url,
  world: text(
    '<name>',
    'a world of this name instead of the default one, or * for all; a password other than sandbox is in SCRIP_PASSWORD',
  ),
  since: {
    value: '<time>',
    meaning: 'print the events of the last 10m of real time first',
    read: parseDuration,
    unset: 'none',
  },
  events: { ...text('<patterns>', 'types of events, such as order.*,payout.completed'), default: '*' },
  forward: url('URL of a receiver to pass them on to'),
} as const satisfies OptionTable

export const REQUEST_SHOW_OPTIONS = {
  url: TRIGGER_OPTIONS.url,
  world: text('<name>', 'a world of this name instead of the default one'),
} as const satisfies OptionTable

export const REQUEST_TAIL_OPTIONS = {
  url: TRIGGER_OPTIONS.url,
  world: text('<name>', 'a world of this name instead of the default one; * for all'),
  status: flagOnly(text('<status>', 'only responses of this status, such as 404 or 4xx; 0 is a lost response')),
  method: flagOnly(text('<method>', 'only requests of this method')),
  search: flagOnly(text('<text>', 'only requests with this text in their path, id or body')),
} as const satisfies OptionTable

export const REQUEST_LIST_OPTIONS = {
  ...REQUEST_TAIL_OPTIONS,
  format: flagOnly({
    value: '<format>',
    meaning: 'lines, JSON, a scenario that makes the same records again, a HAR file, or curl lines',
    choices: ['text', 'json', 'scenario', 'har', 'curl'],
    default: 'text',
  } as const),
} as const satisfies OptionTable

export const MCP_OPTIONS = {
  url: { ...url('URL of a running sandbox'), unset: 'a new sandbox' },
  seed: SERVE_OPTIONS.seed,
  scenario: SERVE_OPTIONS.scenario,
  snapshot: SERVE_OPTIONS.snapshot,
} as const satisfies OptionTable

/** The values of a table without flags and variables. */
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
export type DataOptions = ValuesOf<typeof DATA_OPTIONS> & { csv?: true }
export type DeskOptions = ValuesOf<typeof DESK_OPTIONS>
export type CompareOptions = ValuesOf<typeof COMPARE_OPTIONS>
export type HealthOptions = ValuesOf<typeof HEALTH_OPTIONS>
export type TriggerOptions = ValuesOf<typeof TRIGGER_OPTIONS>
export type ListenOptions = ValuesOf<typeof LISTEN_OPTIONS>
export type RequestListOptions = ValuesOf<typeof REQUEST_LIST_OPTIONS>
export type RequestTailOptions = ValuesOf<typeof REQUEST_TAIL_OPTIONS>
export type McpOptions = ValuesOf<typeof MCP_OPTIONS>
export type WaitOptions = ValuesOf<typeof WAIT_OPTIONS>
