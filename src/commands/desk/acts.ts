import { InvalidArgumentError } from 'commander'
import type { Act, ActRequest, ActResult } from '../../acts/act.ts'
import { type Field, type Fields, isOptional, readerOf } from '../../acts/fields.ts'
import type { DataConfig } from '../../config/config.ts'
import { operatorName } from '../../config/environment.ts'
import type { Requested } from '../../desk/wire.ts'
import { misused, ProgramError } from '../../kernel/exit.ts'
import type { ActField, ActForm, EndedAct, FilledAct } from '../../pages/act-form.ts'
import { ask, recordingRefusal } from '../acts/ask.ts'
import { loadActs } from '../acts/table.ts'
import { explainFaults } from '../advice.ts'

/** Acts on the desk: each act makes a form, and its values are read as the command reads them. */

type Asked = Omit<Requested, 'acts'>

/** This command does its work itself, and its act only records that. */
const ELSEWHERE = 'backup'

/** @throws ProgramError */
const getAct = async (path: string): Promise<Act> => {
  const acts = await loadActs()
  const act = Object.hasOwn(acts, path) && path !== ELSEWHERE ? acts[path] : undefined
  if (!act) throw misused(`there is no act ${path}`)
  return act
}

const isOption = ({ flags }: Field): boolean => flags.startsWith('-')

/** The forms of all acts. */
export const formsOfActs = async (): Promise<ActForm[]> =>
  Object.entries(await loadActs()).map(([command, { title, summary: about, takes, isMoney = false }]) => ({
    ...{ command, title, about, isMoney },
    fields: Object.entries(takes).map(([name, one]) => fieldOf(name, one)),
  }))

const fieldOf = (name: string, one: Field): ActField => {
  const { label = inWords(name), about: hint, choices, isFile, preset } = one
  return {
    ...{ name, label, isRequired: !isOptional(one) },
    ...(hint !== undefined && { hint }),
    ...(choices && { choices }),
    ...(isFile && { isFile }),
    ...(preset !== undefined && { preset }),
  }
}

/** `credit_limit`: "Credit limit". */
const inWords = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')

/** @throws ProgramError for an invalid value */
const readValue = (name: string, one: Field, text = ''): unknown => {
  const { flags, fallback } = one
  if (text === '' && isOptional(one)) return fallback
  if (flags.includes('...')) return text.split(/[\s,]+/)
  try {
    if (text === '') throw new InvalidArgumentError('It is missing.')
    return readerOf(one)?.(text) ?? text
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw misused(`${name} is invalid: ${text}\n${error.message}`)
    throw error
  }
}

const valuesBy = (input: FilledAct['input'], takes: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(takes).map(([name, one]) => [name, readValue(name, one, input[name])]))

/** The request that the command of the act would make with the same values. @throws ProgramError */
const actRequestBy = ({ id, command, input }: FilledAct, { takes }: Act, { isDryRun, seen }: Asked): ActRequest => {
  const args = Object.entries(takes).flatMap(([name, one]) => (isOption(one) || !input[name] ? [] : [input[name]]))
  return {
    ...{ id, command, seen, isDryRun, subject: args.join(' '), user: operatorName() },
    input: valuesBy(input, takes),
  }
}

/** Acts of this desk wait for each other. */
let last: Promise<unknown> = Promise.resolve()

/** Asks for an act, and returns its result or its refusal. */
export const actOnDesk = (config: DataConfig, filled: FilledAct, asked: Asked): Promise<EndedAct<ActResult>> => {
  const work = last.then(async (): Promise<EndedAct<ActResult>> => {
    const notes: string[] = []
    try {
      const act = await getAct(filled.command)
      const request = actRequestBy(filled, act, asked)
      const call = { config, request, act, onNote: (note: string) => void notes.push(note) }
      const { file = '' } = filled
      const read = () => explainFaults(request.subject, () => act.readFile?.(file) ?? file)
      const result = await explainFaults(config.dataDir, async () =>
        ask({ ...call, input: await recordingRefusal(call, read) }),
      )
      return { notes, result }
    } catch (error) {
      if (error instanceof ProgramError) return { notes, refusal: error.message }
      throw error
    }
  })
  last = work.catch(() => undefined)
  return work
}
