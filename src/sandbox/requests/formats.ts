import { shellWord } from '../../kernel/visible.ts'
import type { RecordedRequest } from './contract.ts'

/**
 * HTTP Archive 1.2, as browsers and proxies import it. Its text is the head, the entries with commas between them, and the
 * tail: a run writes it while requests come.
 */
export const harHead = (version: string): string =>
  `{"log":{"version":"1.2","creator":${JSON.stringify({ name: 'Scrip', version })},"entries":[`

export const HAR_TAIL = ']}}'

export const harEntry = (recorded: RecordedRequest, baseUrl: string): string =>
  JSON.stringify(harEntryOf(recorded, baseUrl))

/** HAR 1.2 allows custom fields, such as those of the world and of events. */
const harEntryOf = (recorded: RecordedRequest, baseUrl: string) => ({
  _world: recorded.world,
  _events: recorded.events,
  startedDateTime: recorded.at,
  time: recorded.duration_ms,
  request: {
    method: recorded.method,
    url: baseUrl + recorded.path,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairs(recorded.request.headers),
    queryString: queryOf(recorded.path),
    ...(recorded.request.body !== null && {
      postData: { mimeType: typeOf(recorded.request.headers), params: [], text: recorded.request.body },
    }),
    headersSize: -1,
    bodySize: byteCountOf(recorded.request.body),
  },
  response: {
    status: recorded.response.status,
    statusText: '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairs(recorded.response.headers),
    content: {
      size: byteCountOf(recorded.response.body),
      mimeType: typeOf(recorded.response.headers),
      ...(recorded.response.body !== null && { text: recorded.response.body }),
    },
    redirectURL: '',
    headersSize: -1,
    bodySize: byteCountOf(recorded.response.body),
  },
  cache: {},
  timings: { send: 0, wait: recorded.duration_ms, receive: 0 },
})

/** Without a content type, the API sends JSON and reads bodies as JSON. */
const typeOf = (headers: Record<string, string>): string => headers['content-type'] ?? 'application/json'

const byteCountOf = (body: string | null): number => (body === null ? 0 : Buffer.byteLength(body))

const queryOf = (path: string) => {
  const start = path.indexOf('?')
  return start === -1 ? [] : [...new URLSearchParams(path.slice(start + 1))].map(([name, value]) => ({ name, value }))
}

const pairs = (headers: Record<string, string>) => Object.entries(headers).map(([name, value]) => ({ name, value }))

/** A line to paste into a shell; the token is left to its variable. */
export const toCurl = ({ method, path, request }: RecordedRequest, baseUrl: string): string => {
  const headers = Object.entries(request.headers)
    .filter(([name]) => !isOfClient(name))
    .map(([name, value]) =>
      name === 'authorization'
        ? '-H "Authorization: Bearer $SCRIP_ACCESS_TOKEN"'
        : `-H ${shellWord(headerOf(name, value))}`,
    )
  const body = request.body === null ? [] : ['--data-raw', shellWord(request.body)]
  // With -X HEAD, curl would wait for a body.
  const methodFlags = method === 'HEAD' ? ['--head'] : ['-X', method]
  // Without these flags, curl expands brackets and braces in a query, and removes dot segments from a path.
  return ['curl', '--globoff', '--path-as-is', ...methodFlags, shellWord(baseUrl + path), ...headers, ...body].join(' ')
}

/** Headers that a client sends by itself, or that belong to one connection: a repeated request gets its own. */
const OF_CLIENT = new Set([
  'host',
  'content-length',
  'connection',
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'dnt',
  'origin',
  'pragma',
  'priority',
  'referer',
  'user-agent',
  'x-sandbox-token',
])

const isOfClient = (name: string): boolean => OF_CLIENT.has(name) || name.startsWith('sec-')

/** An empty header is written with a semicolon: with a colon it would be left out. */
const headerOf = (name: string, value: string): string => (value === '' ? `${name};` : `${name}: ${value}`)
