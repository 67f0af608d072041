import { existsSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { isSecretExposed, secretExposure } from '../folder/permissions.ts'
import { misused, unusable } from '../kernel/exit.ts'
import {
  DESK_OPTIONS,
  LISTEN_OPTIONS,
  type OptionSpec,
  RUN_OPTIONS,
  SERVE_OPTIONS,
  type ServeOptions,
  WAIT_OPTIONS,
} from './option-table.ts'
import { parsePort } from './values.ts'

const SECRET_FILE_SUFFIX = '_FILE'
const DEFAULT_PORT = 4747
/** Variables that `scrip run` sets for its command (contract C1, C15). */
const CHILD_VARIABLES = ['SCRIP_URL', 'SCRIP_USERNAME', 'SCRIP_PASSWORD', 'SCRIP_ACCESS_TOKEN']

/** `rateLimit` is written `--rate-limit`. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`
/** `rateLimit` is written `SCRIP_RATE_LIMIT`. */
export const variableOf = (name: string): string => `SCRIP_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`

const fileVariableOf = (name: string): string => variableOf(name) + SECRET_FILE_SUFFIX
const specs: readonly [name: string, OptionSpec][] = Object.entries(SERVE_OPTIONS)

const isFileNamed = ([, { isSecret, isInFile }]: readonly [string, OptionSpec]): boolean =>
  isSecret === true || isInFile === true

/** A shell that sets a variable of `scrip run` or `scrip wait` may run `scrip serve` too. */
const knownVariables = (): Set<string> => {
  const secrets = [...specs.filter(isFileNamed).map(([name]) => name), 'newVoucherKey', 'password']
  const tables = [RUN_OPTIONS, WAIT_OPTIONS, LISTEN_OPTIONS, DESK_OPTIONS]
  const names = [...tables.flatMap(Object.keys), ...secrets]
  return new Set([...CHILD_VARIABLES, ...names.map(variableOf), ...secrets.map(fileVariableOf)])
}

/** @throws ProgramError for a mistyped variable */
export const refuseUnknownVariables = (): void => {
  const known = knownVariables()
  const unknown = Object.keys(process.env).filter((name) => name.startsWith('SCRIP_') && !known.has(name))
  if (unknown.length > 0) throw misused(`unknown variable ${unknown.join(', ')}\nTry scrip serve --help.`)
}

/** They add options to the runtime, such as code to run first, open a debugger, or trust every certificate. */
const RUNTIME_VARIABLE = /^(?:BUN_(?:OPTIONS|INSPECT)|NODE_TLS_REJECT_UNAUTHORIZED$)/

/** Called by commands on live data (contract C17). @throws ProgramError */
export const refuseRuntimeVariables = (): void => {
  const runtimeVariables = Object.keys(process.env).filter((name) => RUNTIME_VARIABLE.test(name))
  if (runtimeVariables.length === 0) return
  throw misused(
    `${runtimeVariables.join(', ')} can change the program, show its memory to others or switch off its checks\nUnset it for commands on live data.`,
  )
}

/** @throws ProgramError for an option of the other mode, or one that may not be given in this way */
export const refuseMeaningless = (command: Command): void => {
  const { mode = 'sandbox' } = command.opts<Partial<ServeOptions>>()
  if (mode === 'live') refuseRuntimeVariables()
  for (const spec of specs) {
    const [name, { onlyIn, isSecret }] = spec
    const source = command.getOptionValueSource(name)
    const isInFile = isFileNamed(spec) && process.env[fileVariableOf(name)] !== undefined
    const written =
      source === 'cli'
        ? flagOf(name)
        : source === 'env'
          ? variableOf(name)
          : isInFile
            ? fileVariableOf(name)
            : undefined
    if (written !== undefined && onlyIn !== undefined && onlyIn !== mode) {
      throw misused(`${written} is not available in ${mode} mode\nLeave it out.`)
    }
    if (isSecret && source === 'cli' && mode === 'live') {
      throw misused(
        `any user of this machine can read ${written}\nIn live mode, set ${variableOf(name)} or ${fileVariableOf(name)}.`,
      )
    }
  }
  // A switch is on if its variable says so, not because the variable exists.
  for (const name of ['SCRIP_STRICT', 'SCRIP_EXPLORE', 'SCRIP_CHECK']) {
    const { [name]: value = '1' } = process.env
    if (value !== '1' && value !== 'true')
      throw misused(`${name} is invalid: ${value}\nSet it to 1 or true, or unset it.`)
  }
}

/**
 * The secret of the flag, else of its variable, else of the file in its `_FILE` variable.
 * @throws ProgramError, also for a file that must be private and is not
 */
export const findSecret = (name: string, option?: string, isPrivate = false): string | undefined =>
  findSecretBytes(name, option, isPrivate)?.toString('utf8').trim()

/** The same without trimming, for a key that a file may hold raw. */
export const findSecretBytes = (name: string, option?: string, isPrivate = false): Buffer | undefined => {
  const path = process.env[fileVariableOf(name)]
  const text = option ?? process.env[variableOf(name)]
  if (text !== undefined) return Buffer.from(text)
  if (path === undefined) return undefined
  if (isPrivate && isSecretExposed(path)) throw unusable(`${fileVariableOf(name)}: ${secretExposure(path)}`)
  let secret: Buffer
  try {
    secret = readFileSync(path)
  } catch {
    throw misused(`${fileVariableOf(name)}: cannot read ${path}\nCheck its name and its permissions.`)
  }
  if (secret.toString('latin1').trim() === '')
    throw misused(`${fileVariableOf(name)}: ${path} is empty\nWrite the secret into it.`)
  return secret
}

/** The port of the flag or its variable, else of the bare PORT of platforms, else the default. @throws ProgramError */
export const portOf = (option: number | undefined): number => {
  const bare = process.env.PORT
  if (option !== undefined || !bare) return option ?? DEFAULT_PORT
  try {
    return parsePort(bare)
  } catch {
    throw misused(`the variable PORT is not a port: ${bare}\nA port is a number from 0 to 65535.`)
  }
}

/** The user of this process and, after `sudo`, the person who became that user (contract C17): `root by ada`. */
export const operatorName = (): string => {
  const user = process.getuid ? nameOfUser(process.getuid()) : userInfo().username
  const { SUDO_UID: person = '' } = process.env
  return /^\d{1,10}$/.test(person) ? `${user} by ${nameOfUser(Number(person))}` : user
}

/** The runtime returns `$USER`, which anybody can set. A container may run as a user without a name. */
const nameOfUser = (userId: number): string => {
  const users = existsSync(USERS_FILE) ? readFileSync(USERS_FILE, 'utf8').split('\n') : []
  const [name] = users.map((line) => line.split(':')).find(([, , id]) => id === String(userId)) ?? []
  return name ?? String(userId)
}

const USERS_FILE = '/etc/passwd'

/** True if systemd waits for a notification that the server is ready. */
export const isNotifying = (): boolean => Boolean(process.env.NOTIFY_SOCKET)

/** The file whose Markdown GitHub shows on the page of a job. */
export const pipelineSummary = (): string | undefined => process.env.GITHUB_STEP_SUMMARY || undefined

export const wantsColor = (isTerminal: boolean): boolean => isTerminal && !process.env.NO_COLOR

/** The flag of an option, or its variable if that is set: a shell may set it for another command. */
export const setBy = (name: string): string =>
  process.env[variableOf(name)] === undefined ? flagOf(name) : variableOf(name)

/** True if an option was given as a flag, which everybody on the machine can read. */
export const isFlag = (name: string, option: string | undefined): boolean =>
  option !== undefined && option !== process.env[variableOf(name)]
