import { type Command, Option } from 'commander'
import { flagOf, refuseMeaningless, refuseRuntimeVariables, refuseUnknownVariables, variableOf } from './environment.ts'
import { DATA_OPTIONS, type OptionSpec, type OptionTable, SERVE_OPTIONS } from './option-table.ts'

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

export const withOptions = (command: Command, table: OptionTable): Command => {
  for (const [name, spec] of Object.entries(table)) command.addOption(optionOf(name, spec))
  return command.hook('preAction', refuseUnknownVariables)
}

/** The options of a command that serves. Some belong to one mode only. */
export const withServerOptions = (command: Command, table: OptionTable): Command =>
  withOptions(command, table).hook('preAction', refuseMeaningless)

export const withServeOptions = (command: Command): Command => withServerOptions(command, SERVE_OPTIONS)

export const withDataOptions = (command: Command): Command =>
  withOptions(command, DATA_OPTIONS).hook('preAction', refuseRuntimeVariables)

export const withJson = (command: Command): Command => command.option('--json', 'print JSON, for scripts')
