import type * as cells from '../../acts/cells.ts'
import type { ShownList } from '../../commands/desk/lists.ts'
import type { reconciliationOf } from '../../commands/desk/reconcile.ts'
import type { storyOf } from '../../commands/desk/story.ts'
import type { todayOf } from '../../commands/desk/today.ts'
import { errorMessageIn } from '../../http/error-message.ts'
import type { ActForm, EndedAct, FilledAct } from '../../pages/act-form.ts'
import type { OnProgress, Outcome } from '../../pages/ui/act.tsx'
import type { Filters } from '../../pages/ui/list.tsx'
import { saveFile } from '../../pages/ui/notices.tsx'
import type { ActsLine, OnWire } from '../wire.ts'

/** The requests of the desk. Besides the cookie they need a key, which came with the first page. */

export type Row = OnWire<cells.Row>
export type List = OnWire<cells.List>
export type ActResult = Row | List
export type Today = OnWire<Awaited<ReturnType<typeof todayOf>>>
export type Story = OnWire<ReturnType<typeof storyOf>>
export type ListPage = OnWire<ShownList>
export type Findings = OnWire<ReturnType<typeof reconciliationOf>>

const KEY = 'scrip-desk'

/** Takes the key out of the page, and its token out of the address. */
export const keepKey = ({ dataset }: HTMLElement): void => {
  if (!dataset.key) return
  localStorage.setItem(KEY, dataset.key)
  history.replaceState(null, '', '/')
}

const send = async (method: string, path: string, body?: string): Promise<Response> => {
  const headers = { 'x-desk-key': localStorage.getItem(KEY) ?? '' }
  const response = await fetch(`/data/${path}`, { method, headers, ...(body !== undefined && { body }) })
  if (response.ok) return response
  const text = await response.text()
  throw new Error(errorMessageIn(text) ?? text)
}

const isFilled = (entry: [string, string | undefined]): entry is [string, string] => !!entry[1]

export const pathOf = (names: readonly string[], query: Filters = {}): string => {
  const search = new URLSearchParams(Object.entries(query).filter(isFilled)).toString()
  return names.map(encodeURIComponent).join('/') + (search === '' ? '' : `?${search}`)
}

/** Reads data; undefined if there is none yet. */
export const read = async <Body>(...path: Parameters<typeof pathOf>): Promise<Body | undefined> => {
  const body = (await (await send('GET', pathOf(...path))).json()) as Body | { isEmpty: true }
  return 'isEmpty' in (body as object) && (body as { isEmpty: boolean }).isEmpty === true ? undefined : (body as Body)
}

export const readForms = async (): Promise<ActForm[]> => (await read<ActForm[]>(['forms'])) ?? []

/** Sends a text: of a list, or of a request. */
const post = async <Body>(path: string, text?: string): Promise<Body> =>
  (await send('POST', path, text)).json() as Promise<Body>

/** Ends the login of this browser. */
export const logOut = async (): Promise<void> => {
  await send('POST', 'logout')
  localStorage.removeItem(KEY)
  location.reload()
}

export const verify = (): Promise<Row[]> => post('verify')

type ActsLines = ActsLine<ActResult, List>

/** Asks for acts, and reads how they end, one after the other. @param seen the last row of the audit that the page has seen */
export const askFor = async (
  acts: readonly FilledAct[],
  isDryRun: boolean,
  onProgress: OnProgress,
  seen?: number,
): Promise<Outcome<ActResult>> => {
  const response = await send('POST', 'acts', JSON.stringify({ acts, isDryRun, seen }))
  const ended: EndedAct<ActResult>[] = []
  let sums: List | undefined
  const show = () => acts.length > 1 && onProgress('', ended.length, acts.length)
  const shown = setInterval(show, SHOWN_EVERY_MS)
  try {
    for await (const text of linesOf(response)) {
      const line = JSON.parse(text) as ActsLines
      if ('error' in line) throw new Error(line.error)
      if ('sums' in line) sums = line.sums
      else if ('progress' in line) onProgress(...line.progress)
      else ended.push(line.ended)
    }
  } finally {
    clearInterval(shown)
  }
  if (ended.length < acts.length) throw new Error(CUT)
  return { ended, ...(sums && { sums }) }
}

/** Each step that is drawn takes time from those that follow. */
const SHOWN_EVERY_MS = 200

const CUT = 'The response was cut. Do it again: what has been done is not done twice.'

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    const lines = (text + part.value).split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
}

interface Named extends List {
  /** The column of a CSV file by which they are named. */
  column?: string
  /** Lines that name a payout and are left, each with its reason. */
  left: string[]
  /** Lines that name no payout. */
  unknown: string[]
}

/** The payouts that a list names. @param how the list is read */
export const payoutsNamed = (text: string, how: Filters): Promise<Named> => post(pathOf(['payouts'], how), text)

/** Compares the text of a client's own list with the ledger. */
export const compare = (comparison: Filters, text: string): Promise<Findings> =>
  post(pathOf(['reconcile'], comparison), text)

export const downloadFindings = async (comparison: Filters, text: string): Promise<void> => {
  const found = await send('POST', pathOf(['reconcile'], { ...comparison, csv: '1' }), text)
  saveFile(`reconcile-${comparison.client}.csv`, await found.blob())
}

/** Saves a list as a file. */
export const download = async (name: string, ...path: Parameters<typeof pathOf>): Promise<void> => {
  const [names, query] = path
  const blob = await (await send('GET', pathOf(names, { ...query, csv: '1' }))).blob()
  saveFile(`${name}.csv`, blob)
}
