import type { Static, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { writingProblem } from '../../http/validation.ts'
import { PROBLEMS_MAX, type Problem, ScenarioFault } from './loading.ts'
import { parseInPieces, TOO_DEEP } from './long-json.ts'
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
    throw error instanceof ScenarioFault
      ? error
      : new ScenarioFault([{ path: '', what: `not JSON: ${messageOf(error)}` }])
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
export const checkScenario = (sent: unknown): Scenario => requireSound(checkedBy(sent, ScenarioSchema, wholeCheck()))

/** Records that are checked between two looks at the time. */
const RECORDS_PER_PIECE = 50

/** The lists of a document, with the check of one record of each. */
const LISTS = Object.entries(ScenarioSchema.properties).flatMap(([name, { items }]: [string, TSchema]) =>
  items ? [{ name, items: items as TSchema, check: compiledOnce(items as TSchema) }] : [],
)

/** Each record by itself, and then what is beside the lists. */
function* checkInPieces(sent: unknown): Generator<undefined, Scenario> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return checkScenario(sent)
  const lists: Record<string, unknown[]> = {}
  const problems: Problem[] = []
  for (const { name, items, check } of LISTS) {
    const records: unknown = Reflect.get(sent, name)
    if (!Array.isArray(records) || records.length < RECORDS_PER_PIECE) continue
    const sound: unknown[] = []
    for (const [index, record] of records.entries()) {
      if (problems.length >= PROBLEMS_MAX) break
      const checked = checkedBy(record, items, check(), `/${name}/${index}`)
      problems.push(...checked.problems)
      sound.push(checked.value)
      if (sound.length % RECORDS_PER_PIECE === 0) yield
    }
    lists[name] = sound
  }
  const empty = Object.fromEntries(Object.keys(lists).map((name) => [name, []]))
  const rest = checkedBy({ ...sent, ...empty }, ScenarioSchema, wholeCheck())
  const all = [...rest.problems, ...problems].slice(0, PROBLEMS_MAX)
  return Object.assign(requireSound({ value: rest.value, problems: all }), lists)
}

interface Checked<Schema extends TSchema> {
  /** Undefined if there are problems. */
  value: Static<Schema> | undefined
  problems: readonly Problem[]
}

/** @throws ScenarioFault */
const requireSound = ({ value, problems }: Checked<typeof ScenarioSchema>): Scenario => {
  if (problems.length > 0 || value === undefined) throw new ScenarioFault(problems)
  return value
}

/** Checks a value, which is at this path of the document. */
const checkedBy = <Schema extends TSchema>(
  sent: unknown,
  schema: Schema,
  check: TypeCheck<Schema>,
  path = '',
): Checked<Schema> => {
  try {
    const value = withoutNulls(sent, schema)
    if (!check.Check(value)) return { value: undefined, problems: problemsOf(check.Errors(value), path) }
    const unwritable = writingProblem(value)
    return { value, problems: unwritable === undefined ? [] : [{ path, what: unwritable }] }
  } catch (error) {
    // What is nested so deep that it exhausts the stack is no document.
    if (error instanceof RangeError) return { value: undefined, problems: [{ path, what: TOO_DEEP }] }
    throw error
  }
}

/** The first problem of each place. */
const problemsOf = (errors: Iterable<ValueError>, path: string): Problem[] => {
  const problems = new Map<string, Problem>()
  for (const error of errors) {
    if (problems.size === PROBLEMS_MAX) break
    if (!problems.has(error.path)) problems.set(error.path, { path: path + error.path, what: whatOf(error) })
  }
  return [...problems.values()]
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
