import { type Command, Option } from 'commander'
import { flagOf, refuseMeaningless, refuseRuntimeVariables, refuseUnknownVariables, variableOf } from './environment.ts'
import {
  COMPARE_OPTIONS,
  DATA_OPTIONS,
  HEALTH_OPTIONS,
  LISTEN_OPTIONS,
  MCP_OPTIONS,
  OPEN_OPTIONS,
  type OptionSpec,
  RUN_OPTIONS,
  SERVE_OPTIONS,
  TRIGGER_OPTIONS,
  WAIT_OPTIONS,
} from './option-table.ts'
import { parseUrl } from './values.ts'

const optionOf = (name: string, spec: OptionSpec): Option => {
  const { value, meaning, read, choices, default: fallback, unset, isFlagOnly, isHidden = false } = spec
  const flags = value === undefined ? flagOf(name) : `${flagOf(name)} ${value}`
  const option = new Option(flags, unset === undefined ? meaning : `${meaning} (default: ${unset})`)
  if (read) option.argParser(read)
  if (choices) option.choices(choices)
  if (fallback !== undefined) option.default(read ? read(fallback, undefined) : fallback, fallback)
  option.hideHelp(isHidden)
  return isFlagOnly ? option : option.env(variableOf(name))
}

const withOptions = (command: Command, table: Readonly<Record<string, OptionSpec>>): Command => {
  for (const [name, spec] of Object.entries(table)) command.addOption(optionOf(name, spec))
  return command.hook('preAction', refuseUnknownVariables)
}

export const withServeOptions = (command: Command): Command =>
  withOptions(command, SERVE_OPTIONS).hook('preAction', refuseMeaningless)

export const withRunOptions = (command: Command): Command =>
  withOptions(command, RUN_OPTIONS).hook('preAction', refuseMeaningless)

export const withOpenOptions = (command: Command): Command =>
  withOptions(command, OPEN_OPTIONS).hook('preAction', refuseMeaningless)

export const withCompareOptions = (command: Command): Command => withJson(withOptions(command, COMPARE_OPTIONS))

export const withDataOptions = (command: Command): Command =>
  withJson(withOptions(command, DATA_OPTIONS)).hook('preAction', refuseRuntimeVariables)

export const withJson = (command: Command): Command => command.option('--json', 'print JSON, for scripts')

export const withHealthOptions = (command: Command): Command => withUrl(withOptions(command, HEALTH_OPTIONS))

export const withWaitOptions = (command: Command): Command => withUrl(withOptions(command, WAIT_OPTIONS))

export const withTriggerOptions = (command: Command): Command => withOptions(command, TRIGGER_OPTIONS)

export const withListenOptions = (command: Command): Command => withOptions(command, LISTEN_OPTIONS)

export const withMcpOptions = (command: Command): Command => withOptions(command, MCP_OPTIONS)

const withUrl = (command: Command): Command =>
  command.option('--url <url>', 'URL of the server, instead of --host and --port', parseUrl)
