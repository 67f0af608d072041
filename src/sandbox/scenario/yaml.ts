import type { Document, LineCounter } from 'yaml'

/** Reads YAML with comments, without tags, and with few aliases (contract C15). */

/** Loaded on first use: its modules are a good part of those that a server needs at its start. */
export const library = () => require('yaml') as typeof import('yaml')

/** Aliases of aliases could grow without limit. */
const ALIASES_MAX = 100

/** The depth of lists and objects. The document of a world has six levels. */
const DEPTH_MAX = 100
const OPENING = new Set(['[', '{'])
const CLOSING = new Set([']', '}'])
const NESTING_IN_A_LINE = new Set(['-', '?'])
/** The lexer announces a scalar by it. */
const SCALAR = '\u001f'

/** @throws Error for what is not YAML, or none that is read here */
export const parseYaml = (text: string): unknown => {
  requireShallow(text)
  const document = parsed(text)
  const [error] = document.errors
  if (error) throw error
  const { isNode, visit } = library()
  visit(document, (_, node) => {
    if (isNode(node) && node.tag !== undefined) throw new Error(`tags are refused: ${node.tag}`)
  })
  return document.toJS({ maxAliasCount: ALIASES_MAX })
}

/** The parser takes kilobytes for each level. By indentation alone, the depth cannot grow faster than the text. */
const requireShallow = (text: string): void => {
  let [opened, inLine, isScalar] = [0, 0, false]
  for (const lexeme of new (library().Lexer)().lex(text)) {
    if (isScalar) isScalar = false
    else if (lexeme === SCALAR) isScalar = true
    else if (lexeme === '\n') inLine = 0
    else if (OPENING.has(lexeme)) opened += 1
    else if (CLOSING.has(lexeme)) opened -= 1
    else if (NESTING_IN_A_LINE.has(lexeme)) inLine += 1
    if (opened + inLine > DEPTH_MAX) throw new Error('it is nested too deep')
  }
}

/** The lines of places in a text, such as `/orders/2/product_id`. JSON is YAML: the lines of both are found in the same way. */
export const linesOf = (text: string, paths: readonly string[]): number[] => {
  if (paths.every((path) => path === '')) return paths.map(() => 1)
  const lines = new (library().LineCounter)()
  const document = parsed(text, lines)
  return paths.map((path) => lineOf(document, lines, path))
}

/** The line of a place, or of what is around it if the place is missing. */
const lineOf = (document: Document, lines: LineCounter, path: string): number => {
  const steps = path.split('/').slice(1)
  for (let length = steps.length; length > 0; length--) {
    const node: unknown = document.getIn(steps.slice(0, length), true)
    if (library().isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}

const parsed = (text: string, lineCounter?: LineCounter) =>
  library().parseDocument(text, { schema: 'core', ...(lineCounter && { lineCounter }) })
