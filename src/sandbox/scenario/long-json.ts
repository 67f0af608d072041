import { endOfString } from '../../http/json.ts'

/** Long documents as JSON, which are parsed in pieces: the thread that serves requests cannot wait for a megabyte. */

/** Shorter texts are parsed at once. */
const SHORT_LENGTH = 65_536
/** Characters between two looks at the time. */
const PIECE_LENGTH = 32_768

/** Where the elements of the lists in the outermost object are, and the text without them. */
interface Outline {
  lists: Map<string, [start: number, end: number][]>
  rest: string
}

/** Parses each element of the lists in the outermost object by itself. @throws SyntaxError */
export function* parseInPieces(text: string): Generator<undefined, unknown> {
  const outline = text.length > SHORT_LENGTH ? yield* outlineOf(text) : undefined
  if (!outline) return JSON.parse(text)
  const value = JSON.parse(outline.rest) as Record<string, unknown>
  let parsed = 0
  for (const [name, places] of outline.lists) {
    if (!Array.isArray(value[name])) continue // named again as something else, which counts
    const elements: unknown[] = []
    for (const [start, end] of places) {
      elements.push(JSON.parse(text.slice(start, end)))
      parsed += end - start
      if (parsed < PIECE_LENGTH) continue
      parsed = 0
      yield
    }
    value[name] = elements
  }
  return value
}

/** Undefined for a text that is not read here: one that is no object, or names a list twice. What is no JSON need not be noticed. */
function* outlineOf(text: string): Generator<undefined, Outline | undefined> {
  const lists: Outline['lists'] = new Map()
  const rest: string[] = []
  let [depth, from, looked, start] = [0, 0, 0, 0]
  let name = ''
  let places: [number, number][] | undefined
  for (let at = 0; at < text.length; at++) {
    if (at - looked > PIECE_LENGTH) {
      looked = at
      yield
    }
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      if (depth === 1) name = text.slice(at, end + 1)
      at = end
    } else if (character === '{' || character === '[') {
      depth += 1
      if (depth !== 2 || character !== '[') continue
      if (lists.has(name)) return undefined
      places = []
      lists.set(name, places)
      rest.push(text.slice(from, at + 1))
      start = at + 1
    } else if (character === '}' || character === ']' || character === ',') {
      if (places && depth === 2 && character !== '}') {
        if (character === ',' || places.length > 0 || text.slice(start, at).trim() !== '') places.push([start, at])
        start = at + 1
        if (character === ']') {
          places = undefined
          from = at
        }
      }
      if (character !== ',') depth -= 1
    }
  }
  if (!/^\s*\{/.test(text)) return undefined
  rest.push(text.slice(from))
  return { lists: named(lists), rest: rest.join('') }
}

const named = (lists: Outline['lists']): Outline['lists'] =>
  new Map([...lists].map(([name, places]) => [JSON.parse(name) as string, places]))
