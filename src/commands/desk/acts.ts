import { type Argument, type Command, CommanderError, type Option } from 'commander'
import type { Act, Asked } from '../../acts/act.ts'
import { checkedCatalog } from '../../catalog/import.ts'
import type { DataConfig } from '../../config/config.ts'
import { misused, ProgramError } from '../../kernel/exit.ts'
import { freshActId } from '../../kernel/ids.ts'
import { readReference } from '../../start/seed.ts'
import { ask, askedOf, recordingRefusal } from '../acts/ask.ts'
import { ACTS } from '../acts/table.ts'
import { explainFaults } from '../advice.ts'
import type { Result } from '../terminal/output.ts'

/** Acts on the desk: a form is made of a command, and what is filled in is read and asked as the command does it. */

interface Field {
  /** Its place among the operands, or its flag. */
  name: string
  about: string
  isRequired: boolean
  choices?: readonly string[]
  isFile?: true
}

interface Form {
  command: string
  about: string
  fields: Field[]
  /** It moves money: a dry run comes first. */
  isMoney: boolean
}

/** What a form asks for. */
export interface Filled {
  command: string
  args: string[]
  /** By their flags. */
  options: Record<string, string>
  /** The text of its file. */
  file?: string
  /** The row of the audit up to which the desk had seen what was done. */
  seen?: number
  /** That of its dry run. */
  id?: string
}

interface Done {
  id: string
  notes: string[]
  result?: Result
  refusal?: string
}

/** The first operands of commands that take a file, and what is sent of its text. */
const FILES: Readonly<Record<string, (text: string) => string>> = {
  'catalog import': (text) => checkedCatalog(text, readReference()),
  'vouchers import': (text) => text,
}
/** Those that can be the first of a folder. */
const IN_NEW_FOLDER = ['client add', 'catalog import']
/** Its act only tells what the command has copied. */
const ELSEWHERE = ['backup']
const OF_ALL_COMMANDS = ['--data-dir', '--json', '--dry-run', '--file']

/** Makes a new command line, because a command keeps what it has read. */
export type CommandLine = (words: readonly string[]) => Promise<Command>

const commandOf = async (commandLine: CommandLine, path: string): Promise<Command> => {
  let command = await commandLine(path.split(' '))
  for (const word of path.split(' ')) {
    const below = command.commands.find((one) => one.name() === word)
    if (!below || !Object.hasOwn(ACTS, path) || ELSEWHERE.includes(path)) throw misused(`there is no act ${path}`)
    command = below
  }
  return command
}

export const formOf = async (commandLine: CommandLine, path: string): Promise<Form> => {
  const command = await commandOf(commandLine, path)
  const isFile = Object.hasOwn(FILES, path)
  const options = command.options.filter(({ long }) => long && !OF_ALL_COMMANDS.includes(long))
  return {
    command: path,
    about: command.description(),
    fields: [
      ...command.registeredArguments.map(
        (argument, index): Field => ({
          name: String(index),
          about: `${argument.name()}: ${argument.description}`,
          isRequired: argument.required,
          ...choicesOf(argument),
          ...(isFile && index === 0 && { isFile }),
        }),
      ),
      ...options.map(
        (option): Field => ({
          name: option.long ?? '',
          about: option.description,
          isRequired: option.mandatory,
          ...choicesOf(option),
        }),
      ),
    ],
    isMoney: !isFile && command.options.some(({ long }) => long === '--dry-run'),
  }
}

const choicesOf = ({ argChoices }: Argument | Option) => argChoices && { choices: argChoices }

/** Reads what is filled in as the command reads its words. @throws ProgramError */
const askedBy = async (
  commandLine: CommandLine,
  { command: path, args, options, seen, id }: Filled,
  isDryRun: boolean,
): Promise<Asked> => {
  const command = await commandOf(commandLine, path)
  const isMany = command.registeredArguments.at(-1)?.variadic
  const operands = isMany ? args.flatMap((arg) => arg.split(/[\s,]+/)) : args
  const flags = Object.entries(options).map(([flag, value]) => `${flag}=${value}`)
  let asked: Asked | undefined
  command.configureOutput({ outputError: () => undefined, writeErr: () => undefined })
  command.action(function (this: Command, ...given: unknown[]) {
    asked = { ...askedOf(this, given), isDryRun, seen }
  })
  try {
    await command.parseAsync([...flags, '--', ...operands.filter((arg) => arg !== '')], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) throw misused(error.message.replace(/^error: /, ''))
    throw error
  }
  if (!asked) throw misused(`there is no act ${path}`)
  return id !== undefined && /^act_[\w-]{22}$/.test(id) ? { ...asked, id } : asked
}

/** Acts of this desk wait for each other. */
let last: Promise<unknown> = Promise.resolve()

/** Asks for an act and tells how it ended, a refusal too. */
export const actOnDesk = (
  commandLine: CommandLine,
  config: DataConfig,
  filled: Filled,
  isDryRun: boolean,
): Promise<Done> => {
  const work = last.then(async (): Promise<Done> => {
    const notes: string[] = []
    let id = filled.id ?? freshActId()
    try {
      const asked = await askedBy(commandLine, { ...filled, id }, isDryRun)
      id = asked.id
      const act = ACTS[asked.command] as Act
      const means = { config, asked, act, onNote: (note: string) => void notes.push(note) }
      const result = await explainFaults(config.dataDir, async () => {
        const { file = '', args } = filled
        const read = () => explainFaults(args[0] ?? '', () => FILES[asked.command]?.(file) ?? file)
        const input = await recordingRefusal(means, read)
        return await ask({ ...means, input, inNewFolder: IN_NEW_FOLDER.includes(asked.command) })
      })
      return { id, notes, result }
    } catch (error) {
      if (error instanceof ProgramError) return { id, notes, refusal: error.message }
      throw error
    }
  })
  last = work.catch(() => undefined)
  return work
}
