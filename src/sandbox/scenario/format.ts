import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { isWritable, writingProblem } from '../../http/validation.ts'
import { PROBLEMS_MAX, type Problem, ScenarioFault } from './loading.ts'
import { type Scenario, ScenarioSchema } from './schema.ts'
import { library, linesOf, parseYaml } from './yaml.ts'

/** Documents as text: JSON, or YAML with comments, without tags, and with few aliases (contract C15). */

export type Format = 'json' | 'yaml'

/** Problems have lines in texts up to this length: to find them, YAML is read again, and JSON as YAML. */
const LINED_LENGTH_MAX = 131_072

/** @throws ScenarioFault with everything that is wrong */
export const readScenario = (text: string, format: Format): Scenario => {
  let sent: unknown
  try {
    sent = format === 'json' ? JSON.parse(text) : parseYaml(text)
  } catch (error) {
    const what = format === 'json' ? 'not JSON' : 'not YAML that is read here'
    throw new ScenarioFault([{ path: '', what: `${what}: ${error instanceof Error ? error.message : String(error)}` }])
  }
  return checkScenario(sent)
}

/** Compiled with the first document: it takes some milliseconds. */
let compiled: TypeCheck<typeof ScenarioSchema> | undefined

/** @throws ScenarioFault with everything that does not fit the schema */
export const checkScenario = (sent: unknown): Scenario => {
  compiled ??= TypeCompiler.Compile(ScenarioSchema)
  try {
    const value = withoutNulls(sent, ScenarioSchema)
    if (!compiled.Check(value)) throw new ScenarioFault(problemsOf(compiled.Errors(value)))
    const unwritable = Object.entries(value).flatMap(unwritableIn)
    if (unwritable.length > 0) throw new ScenarioFault(unwritable)
    return value
  } catch (error) {
    // A text that exhausts the stack by its nesting is not a document.
    throw error instanceof RangeError ? new ScenarioFault([{ path: '', what: 'is nested too deep' }]) : error
  }
}

/** By record, so that it can be found. */
const unwritableIn = ([name, section]: [string, unknown]): Problem[] => {
  const what = writingProblem(section)
  if (what === undefined) return []
  if (!Array.isArray(section)) return [{ path: `/${name}`, what }]
  return section.flatMap((record, index) => (isWritable(record) ? [] : [{ path: `/${name}/${index}`, what }]))
}

/** The first problem of each place. */
const problemsOf = (errors: Iterable<ValueError>): Problem[] => {
  const problems = new Map<string, Problem>()
  for (const error of errors) {
    if (problems.size === PROBLEMS_MAX) break
    if (!problems.has(error.path)) problems.set(error.path, { path: error.path, what: whatOf(error) })
  }
  return [...problems.values()]
}

/** A member that is null counts as left out (contract C4), unless null has a meaning. */
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

/** The same problems with their lines, in JSON too, if they can be found and that does not take too long. */
export const withLines = ({ problems }: ScenarioFault, text: string): ScenarioFault => {
  const lines = text.length > LINED_LENGTH_MAX ? [] : foundLines(text, problems)
  return new ScenarioFault(
    problems.map((problem, index) => {
      const line = lines[index]
      return line === undefined ? problem : { ...problem, line }
    }),
  )
}

const foundLines = (text: string, problems: readonly Problem[]): number[] => {
  try {
    return linesOf(
      text,
      problems.map(({ path }) => path),
    )
  } catch {
    return [] // nested so deep that JSON is read, but YAML is not
  }
}

/**
 * One record per line, so that two documents can be compared, and one section at a time, so that nobody waits for all
 * of them.
 */
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
