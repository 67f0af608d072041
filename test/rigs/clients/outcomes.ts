import { join } from 'node:path'

/** The outcomes of the last run, and their tables. */

export const FILE_PATH = join(import.meta.dir, '../../../docs/use/client-retries.json')

/** The result of one request of a client. */
export interface Outcome {
  /** The number of times that the server got it. */
  sent: number
  /** The number of times that it wrote. */
  done: number
  /** The final view of the caller: a status or an error. */
  seen: string
  /** Of a redirect that was followed: what arrived. */
  method?: string
  hasToken?: boolean
}

export const CELLS = [
  'postUsed',
  'postNew',
  'postKeyed',
  'patchUsed',
  'patchNew',
  'deleteUsed',
  'deleteNew',
  'getUsed',
  'getNew',
  'postCut',
  'getCut',
  'post503',
  'post429',
  'post500',
  'get503',
  'get429',
  'post302',
  'post307',
  'expect',
  'idle',
] as const
type Cell = (typeof CELLS)[number]
type Cases = Partial<Record<Cell, Outcome>>

export interface ClientRow {
  client: string
  version: string
  date: string
  cases: Cases
  /** The switch that keeps it from repeating. */
  ends?: string
  /** The lost responses with it. */
  withIt?: Cases
}

interface Column {
  head: string
  cells: readonly Cell[]
  text: (cases: Cases) => string
}
export type Table = readonly Column[]

/** `once, error`; in bold if money was spent again. */
export const outcomeText = ({ sent, done, seen }: Outcome, isPurchase = false): string => {
  if (sent === 0) return `not sent, ${seen}`
  if (sent === 1) return `once, ${seen}`
  return isPurchase && done > 1 ? `**two orders**, ${seen}` : `again, ${seen}`
}

const textOf = (cases: Cases, cell: Cell): string => {
  const outcome = cases[cell]
  return outcome ? outcomeText(outcome, !/^(?:patch|delete|get)/.test(cell)) : '-'
}

const plain = (head: string, cell: Cell): Column => ({
  head,
  cells: [cell],
  text: (cases) => textOf(cases, cell),
})

/** On a connection that was used before, and on a new one. */
const lost = (head: string, used: Cell, fresh: Cell): Column => ({
  head,
  cells: [used, fresh],
  text: (cases) => {
    const [one, other] = [textOf(cases, used), textOf(cases, fresh)]
    return one === other || cases[fresh] === undefined ? one : `${one}; new: ${other}`
  },
})

/** Responses that most clients hand on as they are. */
const refused = (head: string, ...cells: Cell[]): Column => ({
  head,
  cells,
  text: (cases) => {
    const texts = cells.map((cell) => {
      const outcome = cases[cell]
      if (outcome?.sent === 1 && /^\d+$/.test(outcome.seen)) return 'shown'
      return textOf(cases, cell)
    })
    return [...new Set(texts)].join('; ')
  },
})

const redirected = (head: string, cell: Cell): Column => ({
  head,
  cells: [cell],
  text: ({ [cell]: outcome }) => {
    if (!outcome?.method) return outcome ? 'not followed' : '-'
    return `${outcome.method}${outcome.hasToken ? '' : ' without the token'}`
  },
})

export const LOST: Table = [
  lost('`POST`', 'postUsed', 'postNew'),
  plain('`POST` with a key', 'postKeyed'),
  lost('`PATCH`', 'patchUsed', 'patchNew'),
  lost('`DELETE`', 'deleteUsed', 'deleteNew'),
  lost('`GET`', 'getUsed', 'getNew'),
]

export const OTHER: Table = [
  plain('`POST` cut off', 'postCut'),
  plain('`GET` cut off', 'getCut'),
  refused('`POST`: 503 and 429', 'post503', 'post429'),
  refused('`POST`: 500', 'post500'),
  refused('`GET`: 503 and 429', 'get503', 'get429'),
  redirected('`POST`: 302', 'post302'),
  redirected('`POST`: 307', 'post307'),
  plain('`Expect: 100-continue`', 'expect'),
  plain('idle for 80 s', 'idle'),
]

const METHOD_OF = { post: '`POST`', patch: '`PATCH`', delete: '`DELETE`', get: '`GET`' }

/** The methods that a client repeats in spite of its switch. */
export const stillRepeated = ({ withIt = {} }: ClientRow): string[] => {
  const cells = Object.entries(withIt).filter(([, { sent }]) => sent > 1)
  return Object.entries(METHOD_OF).flatMap(([start, method]) =>
    cells.some(([cell]) => cell.startsWith(start)) ? [method] : [],
  )
}
