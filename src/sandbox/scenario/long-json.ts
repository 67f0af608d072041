import { endOfString } from '../../http/json.ts'
import { ScenarioFault } from './loading.ts'
import { DEPTH_MAX } from './yaml.ts'

/** Long documents as JSON, which are parsed in pieces: the thread that serves requests cannot wait for a megabyte. */

/** Shorter texts are parsed at once. */
const SHORT_LENGTH = 65_536
/** Characters between two looks at the time. */
const PIECE_LENGTH = 32_768
/** A record, or all that is beside the lists. It has its values from requests, whose bodies have 1 MiB. */
const PART_LENGTH_MAX = 2_097_152
/** Each is a member of the document, which has ten. */
const LISTS_MAX = 100
export const TOO_DEEP = 'is nested too deep'

/** Where the elements of the lists in the outermost object are, and the text without them. */
interface Outline {
  lists: { name: string; places: [start: number, end: number][] }[]
  rest: string
}

/** Parses each element of the lists in the outermost object by itself. @throws SyntaxError, ScenarioFault */
export function* parseInPieces(text: string): Generator<undefined, unknown> {
  if (text.length <= SHORT_LENGTH) return JSON.parse(text)
  if (!/^\s*\{/.test(text)) throw new ScenarioFault([{ path: '', what: 'expected object' }])
  const { lists, rest } = yield* outlineOf(text)
  requireShort(rest.length, '')
  const value = JSON.parse(rest) as Record<string, unknown>
  let parsed = 0
  for (const { name, places } of lists) {
    const elements: unknown[] = []
    for (const [index, [start, end]] of places.entries()) {
      requireShort(end - start, `/${name}/${index}`)
      elements.push(JSON.parse(text.slice(start, end)))
      parsed += end - start
      if (parsed < PIECE_LENGTH) continue
      parsed = 0
      yield
    }
    if (Array.isArray(value[name])) value[name] = elements // of a member that is named twice, the last one counts
  }
  return value
}

const requireShort = (length: number, path: string): void => {
  if (length > PART_LENGTH_MAX) throw new ScenarioFault([{ path, what: 'is too long' }])
}

/**
 * What is no JSON need not be noticed.
 * @throws ScenarioFault if it is nested too deep or has too many lists: a million of them take a tenth of a second
 */
function* outlineOf(text: string): Generator<undefined, Outline> {
  const lists: Outline['lists'] = []
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
      if (depth > DEPTH_MAX) throw new ScenarioFault([{ path: '', what: TOO_DEEP }])
      if (depth !== 2 || character !== '[') continue
      if (lists.length === LISTS_MAX) throw new ScenarioFault([{ path: '', what: 'has too many lists' }])
      places = []
      lists.push({ name: JSON.parse(name) as string, places })
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
  rest.push(text.slice(from))
  return { lists, rest: rest.join('') }
}
