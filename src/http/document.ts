import type { TSchema } from '@sinclair/typebox'
import type { TypeCheck } from '@sinclair/typebox/compiler'
import type { JSONPath, Node, ParseError } from 'jsonc-parser'
import { jsonIn } from '../kernel/json.ts'
import { FileFault } from '../kernel/problems.ts'
import { isWritable, problemOf, UNWRITABLE } from './validation.ts'

/** Reads and checks documents that a person wrote: catalogs, exchange rates, codes, lists of partners. */

/** Loaded on first use, for files with a fault. The module that `require` finds by name requires others that no bundler sees. */
const parser = () => require('jsonc-parser/lib/esm/main.js') as typeof import('jsonc-parser')

/** Finds the lines of paths in valid JSON, such as `/products/2/currency`. A missing value has the line of the innermost one above it. */
export const linesOf = (text: string, places: readonly string[]): ((place: string) => number) => {
  const withLine = new Set(places.flatMap(withParents))
  const lines = new Map<string, number>()
  const enter = (_offset: number, _length: number, line: number, _column: number, pathOf: () => JSONPath): boolean => {
    const place = ['', ...pathOf()].join('/')
    if (!withLine.has(place)) return false
    lines.set(place, line + 1)
    return true
  }
  // Without a callback for the end of a value, the scanner does not leave one that it has not entered.
  const leave = (): void => undefined
  parser().visit(text, {
    onObjectBegin: enter,
    onObjectEnd: leave,
    onArrayBegin: enter,
    onArrayEnd: leave,
    onLiteralValue: (_value, ...position) => void enter(...position),
  })
  const lineOf = (place: string): number => lines.get(place) ?? lineOf(parentOf(place))
  return lineOf
}

const withParents = (place: string): string[] => (place === '' ? [''] : [...withParents(parentOf(place)), place])

const parentOf = (place: string): string => place.slice(0, place.lastIndexOf('/'))

/** A text without the byte order mark of Windows programs. */
export const withoutByteOrderMark = (text: string): string => text.replace(/^\ufeff/, '')

export interface Member {
  name: string
  value: unknown
  /** The value as it is written. */
  source: string
}

/**
 * The members of a JSON document, repeated ones too; undefined if it is not an object.
 * @param name the member whose members are asked for, instead of those of the document
 */
export const membersOf = (text: string, name?: string): Member[] | undefined => {
  const { parseTree, findNodeAtLocation, getNodeValue } = parser()
  const root = parseTree(text)
  const object: Node | undefined = root && name !== undefined ? findNodeAtLocation(root, [name]) : root
  if (object?.type !== 'object') return undefined
  return (object.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key && value
      ? [
          {
            name: String(key.value),
            value: getNodeValue(value) as unknown,
            source: text.slice(value.offset, value.offset + value.length),
          },
        ]
      : [],
  )
}

/** The value of a JSON document. @throws FileFault with the place of the first syntax error */
export const parseDocument = (file: FileFault['file'], text: string): unknown => {
  const value = jsonIn(text)
  if (value === undefined) throw new FileFault(file, [syntaxFaultOf(text)])
  return value
}

/** The first syntax error of a text that is not JSON, with its line. */
const syntaxFaultOf = (text: string): string => {
  const faults: ParseError[] = []
  const { parse, printParseErrorCode } = parser()
  parse(text, faults, { disallowComments: true })
  const [first] = faults
  if (!first) return 'not JSON'
  const line = text.slice(0, first.offset).split('\n').length
  return `line ${line}, not JSON: ${wordsOf(printParseErrorCode(first.error))}`
}

/** `PropertyNameExpected` in words. */
const wordsOf = (name: string): string => name.replace(/(?<=.)[A-Z]/g, ' $&').toLowerCase()

/** An invalid part of a value, and its path. */
export interface Fault {
  /** Such as `/denominations/0/discount`. */
  path: string
  what: string
}

/** A file or a body with faults at known places. */
export class DocumentFault extends FileFault {
  constructor(
    file: FileFault['file'],
    readonly faults: readonly Fault[],
  ) {
    super(
      file,
      faults.map(({ path, what }) => `${path}: ${what}`),
    )
  }
}

/** The faults of a value: the rules of its schema that it breaks, or else the members that cannot be stored. */
export const faultsIn = <Schema extends TSchema>(check: TypeCheck<Schema>, value: unknown): Fault[] => {
  if (check.Check(value)) return unwritable(value as object)
  const faults = new Map<string, Fault>()
  for (const error of check.Errors(value)) {
    const { path } = error
    if (!faults.has(path)) faults.set(path, { path, what: problemOf(error).problem })
  }
  return [...faults.values()]
}

export const unwritable = (value: object): Fault[] =>
  Object.entries(value)
    .filter(([, member]) => !isWritable(member))
    .map(([field]) => ({ path: `/${field}`, what: UNWRITABLE }))
