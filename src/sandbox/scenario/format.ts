import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { writingProblem } from '../../http/validation.ts'
import { PROBLEMS_MAX, type Problem, ScenarioFault } from './loading.ts'
import { parseInPieces } from './long-json.ts'
import { type Scenario, ScenarioSchema } from './schema.ts'
import { library, linesOf, parseYaml } from './yaml.ts'

/** Documents as text: JSON, or YAML with comments, without tags, and with few aliases (contract C15). */

export type Format = 'json' | 'yaml'

/** Problems have lines in texts up to this length: finding them takes a second reading. */
export const LINED_LENGTH_MAX = 262_144

/** @throws ScenarioFault with everything that is wrong, and in which line */
export const readScenario = (text: string, format: Format): Scenario => {
  const steps = format === 'json' ? readJsonInSteps(text) : checkInPieces(fromYaml(text))
  try {
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
    }
  } catch (error) {
    throw error instanceof ScenarioFault ? withLines(error, text) : error
  }
}

/** Reads JSON in steps, so that others need not wait for a long document. @throws ScenarioFault with everything that is wrong */
export function* readJsonInSteps(text: string): Generator<undefined, Scenario> {
  return yield* checkInPieces(yield* fromJson(text))
}

function* fromJson(text: string): Generator<undefined, unknown> {
  try {
    return yield* parseInPieces(text)
  } catch (error) {
    throw new ScenarioFault([{ path: '', what: `not JSON: ${messageOf(error)}` }])
  }
}

const fromYaml = (text: string): unknown => {
  try {
    return parseYaml(text)
  } catch (error) {
    throw notYaml(error)
  }
}

export const notYaml = (error: unknown): ScenarioFault =>
  new ScenarioFault([{ path: '', what: `not YAML that is read here: ${messageOf(error)}` }])

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** To compile a schema takes some milliseconds. */
function compiledOnce<Schema extends TSchema>(schema: Schema) {
  let compiled: TypeCheck<Schema> | undefined
  return () => {
    compiled ??= TypeCompiler.Compile(schema)
    return compiled
  }
}

const wholeCheck = compiledOnce(ScenarioSchema)

/** @throws ScenarioFault with everything that does not fit the schema */
export const checkScenario = (sent: unknown): Scenario => {
  try {
    return checked(sent)
  } catch (error) {
    // What is nested so deep that it exhausts the stack is no document.
    throw error instanceof RangeError ? new ScenarioFault([{ path: '', what: 'is nested too deep' }]) : error
  }
}

/** Records that are checked between two looks at the time. */
const RECORDS_PER_PIECE = 50

/** The lists of a document, with the check of one record of each. */
const LISTS = Object.entries(ScenarioSchema.properties).flatMap(([name, { items }]: [string, TSchema]) =>
  items ? [{ name, items: items as TSchema, check: compiledOnce(items as TSchema) }] : [],
)

/** Each record by itself. A document with anything wrong is checked as a whole, to name it all. */
function* checkInPieces(sent: unknown): Generator<undefined, Scenario> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return checkScenario(sent)
  const lists: Record<string, unknown[]> = {}
  for (const { name, items, check } of LISTS) {
    const records: unknown = Reflect.get(sent, name)
    if (!Array.isArray(records) || records.length < RECORDS_PER_PIECE) continue
    const checked: unknown[] = []
    for (const record of records) {
      const value = soundRecord(record, items, check())
      if (value === undefined) return checkScenario(sent)
      checked.push(value)
      if (checked.length % RECORDS_PER_PIECE === 0) yield
    }
    lists[name] = checked
  }
  const empty = Object.fromEntries(Object.keys(lists).map((name) => [name, []]))
  return Object.assign(checkScenario({ ...sent, ...empty }), lists)
}

const soundRecord = (sent: unknown, schema: TSchema, check: TypeCheck<TSchema>): unknown => {
  try {
    const value = withoutNulls(sent, schema)
    return check.Check(value) && writingProblem(value) === undefined ? value : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined // nested too deep
    throw error
  }
}

const checked = (sent: unknown): Scenario => {
  const value = withoutNulls(sent, ScenarioSchema)
  const check = wholeCheck()
  if (!check.Check(value)) {
    const problems = new Map<string, Problem>()
    for (const error of check.Errors(value)) {
      if (problems.size === PROBLEMS_MAX) break
      if (!problems.has(error.path)) problems.set(error.path, { path: error.path, what: whatOf(error) })
    }
    throw new ScenarioFault([...problems.values()])
  }
  const unwritable = writingProblem(value)
  if (unwritable !== undefined) throw new ScenarioFault([{ path: '', what: unwritable }])
  return value
}

/** A member that is null counts as left out (contract C4), unless null says something. */
const withoutNulls = (value: unknown, schema: TSchema): unknown => {
  if (Array.isArray(value)) return schema.items ? value.map((item) => withoutNulls(item, schema.items)) : value
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return value
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const own: TSchema | undefined = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    const means = own?.anyOf?.some(({ type }: TSchema) => type === 'null')
    const isLeftOut = member === null && own && !means && !schema.required?.includes(name)
    return isLeftOut ? [] : [[name, own ? withoutNulls(member, own) : member]]
  })
  return Object.fromEntries(kept)
}

const whatOf = ({ type, schema, message }: ValueError): string => {
  if (type === ValueErrorType.StringPattern) return `must be ${schema.description}`
  if (type === ValueErrorType.ObjectAdditionalProperties) return 'is not known here'
  if (type !== ValueErrorType.Union) return `${message.charAt(0).toLowerCase()}${message.slice(1)}`
  const choices = (schema.anyOf as { const?: unknown; type?: string; pattern?: string }[]).map(
    (choice) => choice.const ?? choice.type ?? 'another value',
  )
  return `must be one of ${choices.join(', ')}`
}

/** The problems whose lines are to be found: none if they are known, or if finding them takes too long. */
export const unlined = ({ problems }: ScenarioFault, text: string): readonly Problem[] => {
  const isKnown = problems.some(({ line }) => line !== undefined)
  return isKnown || text.length > LINED_LENGTH_MAX ? [] : problems
}

/** The same problems with their lines, in JSON too. */
export const withLines = (fault: ScenarioFault, text: string): ScenarioFault => {
  const problems = unlined(fault, text)
  if (problems.length === 0) return fault
  const paths = problems.map(({ path }) => path)
  return lined(problems, linesOf(text, paths))
}

export const lined = (problems: readonly Problem[], lines: readonly number[]): ScenarioFault =>
  new ScenarioFault(problems.map((problem, index) => ({ ...problem, line: lines[index] ?? 1 })))

/** One record a line, so that two documents can be compared; a section at a time, so that nobody waits for all of them. */
export function* writeScenario(document: Iterable<[string, Section]>, format: Format): Generator<string> {
  yield* format === 'json' ? jsonPieces(document) : yamlPieces(document)
}

/** A member of the document: one value, or many records. */
export type Section = { value: unknown } | { records: Iterable<object> }

function* jsonPieces(document: Iterable<[string, Section]>): Generator<string> {
  yield '{'
  let isFirst = true
  for (const [name, section] of document) {
    yield `${isFirst ? '' : ','}\n  ${JSON.stringify(name)}: `
    isFirst = false
    if ('value' in section) yield JSON.stringify(section.value)
    else {
      let separator = '[\n    '
      for (const record of section.records) {
        yield `${separator}${JSON.stringify(record)}`
        separator = ',\n    '
      }
      yield separator === '[\n    ' ? '[]' : '\n  ]'
    }
  }
  yield '\n}\n'
}

const YAML_STYLE = { lineWidth: 0, aliasDuplicateObjects: false } as const

function* yamlPieces(document: Iterable<[string, Section]>): Generator<string> {
  for (const [name, section] of document) {
    if ('value' in section) yield library().stringify({ [name]: section.value }, YAML_STYLE)
    else {
      let isEmpty = true
      for (const record of section.records) {
        if (isEmpty) yield `${name}:\n`
        isEmpty = false
        yield library()
          .stringify([record], YAML_STYLE)
          .replace(/^(?=.)/gm, '  ')
      }
      if (isEmpty) yield `${name}: []\n`
    }
  }
}
