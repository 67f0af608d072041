import { timingSafeEqual } from 'node:crypto'
import { type Clock, HOUR_MS, SECOND_MS } from '../kernel/clock.ts'
import { freshSecret } from '../kernel/ids.ts'
import { html } from '../pages/html.ts'
import { drawPage, fileHeaders, PAGE_HEADERS, STYLE_PATH } from '../pages/page.ts'
import style from '../pages/style.css' with { type: 'text' }

/** The server of the desk (contract C20): its access control, and the files of its page. The caller provides the data. */

interface Desk {
  /** Makes a path that lets one browser in, once. An earlier one that nobody has opened is no longer valid. */
  openEntrance: () => string
  respond: (request: Request, peer: string) => Promise<Response>
}

interface Settings {
  isReadOnly: boolean
  /** The name and address of the operator. */
  issuer?: string | undefined
}

type Respond = (request: Request, url: URL) => Promise<Response>

const SCRIPT_PATH = '/page.js'
const ENTRANCE_PATH = '/enter'
const DATA_PATH = '/data/'
const ACTS_PATH = '/data/acts'
const LOGOUT_PATH = '/data/logout'
const SECRET_BYTES = 32
/** A working day, and the evening after it (contract C20). */
const LOGIN_MS = 12 * HOUR_MS

/** Browsers must not cache the desk, or give other sites access to it. */
const GUARDED = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** The login of a browser. */
interface Session {
  cookie: string
  key: string
  endMs: number
}

/**
 * The token of the address becomes a cookie. Browsers send a cookie to every port of a host, so a program of another user
 * could collect it. Data therefore needs a key, too, which only the page has, and which browsers keep for one port.
 */
export const createDesk = (data: Respond, settings: Settings, clock: Clock): Desk => {
  let token: string | undefined
  const sessions = new Set<Session>()
  const enter = ({ searchParams }: URL, cookie: string): Response => {
    if (token === undefined || !isSame(searchParams.get('token'), token)) return refusal()
    token = undefined
    const session = { cookie: secret(), key: secret(), endMs: clock.nowMs() + LOGIN_MS }
    sessions.add(session)
    const headers = { ...PAGE_HEADERS, ...GUARDED, 'set-cookie': cookieOf(cookie, session.cookie, LOGIN_MS) }
    return new Response(page(settings, session.key), { headers })
  }
  const findSession = (sent: string | undefined): Session | undefined =>
    [...sessions].find(({ cookie, endMs }) => isSame(sent, cookie) && clock.nowMs() < endMs)
  return {
    openEntrance: () => {
      token = secret()
      return `${ENTRANCE_PATH}?token=${token}`
    },
    respond: async (request, peer) => {
      const url = URL.parse(request.url) // null where the Host header makes none
      if (!url || !LOOPBACK_PEER.test(peer) || !isOwn(request, url)) return refusal()
      // Each desk of a machine has its own port.
      const cookie = `scrip-desk-${url.port}`
      if (url.pathname === ENTRANCE_PATH) return request.method === 'GET' ? enter(url, cookie) : refusal()
      const session = findSession(cookieIn(request, cookie))
      if (!session) return refusal()
      if (url.pathname === '/') return new Response(page(settings), { headers: { ...PAGE_HEADERS, ...GUARDED } })
      if (url.pathname === STYLE_PATH) return file(style, 'text/css')
      if (url.pathname === SCRIPT_PATH) return file((await import('./script.ts')).SCRIPT, 'text/javascript')
      if (!url.pathname.startsWith(DATA_PATH)) return new Response('Not found\n', { status: 404, headers: GUARDED })
      if (!isSame(request.headers.get('x-desk-key'), session.key)) return refusal()
      if (url.pathname === LOGOUT_PATH && request.method === 'POST') {
        sessions.delete(session)
        return new Response(null, { status: 204, headers: { ...GUARDED, 'set-cookie': cookieOf(cookie, '', 0) } })
      }
      const response = settings.isReadOnly && url.pathname === ACTS_PATH ? readOnlyRefusal() : await data(request, url)
      for (const [name, value] of Object.entries(GUARDED)) response.headers.set(name, value)
      return response
    },
  }
}

const secret = (): string => Buffer.from(freshSecret(SECRET_BYTES)).toString('base64url')

const cookieOf = (name: string, value: string, ms: number): string =>
  `${name}=${value}; Max-Age=${ms / SECOND_MS}; HttpOnly; SameSite=Strict; Path=/`

const isSame = (sent: string | null | undefined, expected: string): boolean => {
  const [one, other] = [Buffer.from(sent ?? ''), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

const LOOPBACK_PEER = /^(?:::ffff:)?127\.|^::1$/
const LOOPBACK_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** True if the page of the desk sent the request, or a person opened its address. */
const isOwn = ({ headers }: Request, { hostname, host, pathname }: URL): boolean => {
  const [origin, site] = [headers.get('origin'), headers.get('sec-fetch-site')]
  const isFromElsewhere = site !== null && site !== 'same-origin' && site !== 'none'
  return (
    LOOPBACK_HOST.test(hostname) &&
    headers.get('host') === host &&
    (origin === null || origin === `http://${host}`) &&
    (!isFromElsewhere || pathname === ENTRANCE_PATH)
  )
}

const cookieIn = ({ headers }: Request, name: string): string | undefined =>
  (headers.get('cookie') ?? '')
    .split(/; */)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)

const REFUSED = `Only the browser that opened the address can use the desk.
Press Enter in the terminal that runs scrip desk, and open the address that it prints. It works once.
`

const refusal = (): Response =>
  new Response(REFUSED, { status: 403, headers: { ...fileHeaders('text/plain'), ...GUARDED } })

const READ_ONLY = 'this desk only shows\nStart scrip desk without --read-only to act.'

const readOnlyRefusal = (): Response =>
  Response.json({ error: READ_ONLY }, { status: 403, headers: { 'x-content-type-options': 'nosniff' } })

const file = (text: string, type: string): Response =>
  new Response(text, { headers: { ...fileHeaders(type), ...GUARDED } })

/** The key is in the page once: its script keeps it. */
const page = ({ isReadOnly, issuer = '' }: Settings, key = ''): string =>
  drawPage({
    title: 'Scrip desk',
    script: SCRIPT_PATH,
    kind: 'console desk',
    body: html`<div id="console" data-key="${key}" data-read-only="${String(isReadOnly)}" data-issuer="${issuer}"></div>
<noscript><main class="lost"><h1>The desk needs JavaScript</h1></main></noscript>`,
  })
