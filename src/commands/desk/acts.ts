import { InvalidArgumentError } from 'commander'
import type { Act, ActRequest, ActResult } from '../../acts/act.ts'
import { type Field, type Fields, isOptional, readerOf } from '../../acts/fields.ts'
import type { DataConfig } from '../../config/config.ts'
import { operatorName } from '../../config/environment.ts'
import type { Filled, Form } from '../../desk/wire.ts'
import { misused, ProgramError } from '../../kernel/exit.ts'
import { freshActId } from '../../kernel/ids.ts'
import { ask, recordingRefusal } from '../acts/ask.ts'
import { loadActs } from '../acts/table.ts'
import { explainFaults } from '../advice.ts'

/** Acts on the desk: each act makes a form, and its values are read as the command reads them. */

interface Done {
  id: string
  notes: string[]
  result?: ActResult
  refusal?: string
}

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

export const formOf = async (path: string): Promise<Form> => {
  const { summary: about, takes, isMoney = false } = await getAct(path)
  const fields = Object.entries(takes)
    // A file option replaces operands, so the form leaves it out.
    .filter(([, one]) => !(one.isFile && isOption(one)))
    .map(([name, one]) => {
      const { flags, about: says = name, choices, isFile } = one
      const label = `${flags.replace(/ .*|[-<>[\].]/g, '')}: ${says}`
      return {
        name,
        about: label,
        isRequired: !isOptional(one),
        ...(choices && { choices }),
        ...(isFile && { isFile }),
      }
    })
  return { command: path, about, fields, isMoney }
}

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

const valuesBy = (input: Filled['input'], takes: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(takes).map(([name, one]) => [name, readValue(name, one, input[name])]))

/** The request that the command of the act would make with the same values. @throws ProgramError */
const actRequestBy = ({ command, input, seen, id = '' }: Filled, { takes }: Act, isDryRun: boolean): ActRequest => {
  const args = Object.entries(takes).flatMap(([name, one]) => (isOption(one) || !input[name] ? [] : [input[name]]))
  return {
    ...{ command, seen, isDryRun, subject: args.join(' '), user: operatorName() },
    id: /^act_[\w-]{22}$/.test(id) ? id : freshActId(),
    input: valuesBy(input, takes),
  }
}

/** Acts of this desk wait for each other. */
let last: Promise<unknown> = Promise.resolve()

/** Asks for an act, and returns its result or its refusal. */
export const actOnDesk = (config: DataConfig, filled: Filled, isDryRun: boolean): Promise<Done> => {
  const work = last.then(async (): Promise<Done> => {
    const done: Done = { id: '', notes: [] }
    try {
      const act = await getAct(filled.command)
      const request = actRequestBy(filled, act, isDryRun)
      done.id = request.id
      const call = { config, request, act, onNote: (note: string) => void done.notes.push(note) }
      const { file = '' } = filled
      const read = () => explainFaults(request.subject, () => act.readFile?.(file) ?? file)
      const result = await explainFaults(config.dataDir, async () =>
        ask({ ...call, input: await recordingRefusal(call, read) }),
      )
      return { ...done, result: result as ActResult }
    } catch (error) {
      if (error instanceof ProgramError) return { ...done, refusal: error.message }
      throw error
    }
  })
  last = work.catch(() => undefined)
  return work
}
