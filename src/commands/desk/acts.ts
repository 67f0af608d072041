import { type Command, CommanderError } from 'commander'
import type { Act, Asked } from '../../acts/act.ts'
import type { DataConfig } from '../../config/config.ts'
import type { Filled, Form } from '../../desk/wire.ts'
import { misused, ProgramError } from '../../kernel/exit.ts'
import { freshActId } from '../../kernel/ids.ts'
import { ask, askedOf, recordingRefusal } from '../acts/ask.ts'
import { ACTS } from '../acts/table.ts'
import { explainFaults } from '../advice.ts'
import type { Result } from '../terminal/output.ts'

/** Acts on the desk: a form is made of an act, and what is filled in is read and asked as the command does it. */

interface Done {
  id: string
  notes: string[]
  result?: Result
  refusal?: string
}

/** Makes a new command line, because a command keeps what it has read. */
export type CommandLine = (words: readonly string[]) => Promise<Command>

/** Its act only tells what the command has copied. */
const ELSEWHERE = 'backup'

/** @throws ProgramError */
const getAct = (path: string): Act => {
  const act = Object.hasOwn(ACTS, path) && path !== ELSEWHERE ? ACTS[path] : undefined
  if (!act) throw misused(`there is no act ${path}`)
  return act
}

const isOption = ({ flags }: { flags: string }): boolean => flags.startsWith('-')

/** A file that is an option stands for operands. */
const fieldsOf = ({ takes }: Act) => Object.values(takes).filter((one) => !(one.isFile && isOption(one)))

export const formOf = (path: string): Form => {
  const act = getAct(path)
  const operands = fieldsOf(act).filter((one) => !isOption(one))
  return {
    command: path,
    about: act.summary,
    fields: fieldsOf(act).map((one) => ({
      name: isOption(one) ? one.flags.replace(/ .*/, '') : String(operands.indexOf(one)),
      about: [isOption(one) ? [] : one.flags.slice(1, -1), one.about ?? []].flat().join(': '),
      isRequired: one.flags.startsWith('<'),
      ...(one.choices && { choices: one.choices }),
      ...(one.isFile && { isFile: true }),
    })),
    isMoney: act.isMoney === true,
  }
}

const commandOf = async (commandLine: CommandLine, path: string): Promise<Command> => {
  getAct(path)
  let command = await commandLine(path.split(' '))
  for (const word of path.split(' ')) command = command.commands.find((one) => one.name() === word) ?? command
  return command
}

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
      const act = getAct(asked.command)
      const means = { config, asked, act, onNote: (note: string) => void notes.push(note) }
      const result = await explainFaults(config.dataDir, async () => {
        const { file = '', args } = filled
        const read = () => explainFaults(args[0] ?? '', () => act.readFile?.(file) ?? file)
        const input = await recordingRefusal(means, read)
        return await ask({ ...means, input })
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
