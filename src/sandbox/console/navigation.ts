import { pathOf } from '../../http/target.ts'
import { weightsOf } from '../../http/weights.ts'
import { PAGE_HEADERS } from '../../pages/page.ts'
import { isControl } from '../control/gate.ts'
import { CONSOLE_PATH, NOT_FOUND_PAGE } from './page.ts'

/** Whether a person has opened an address: browsers say so in a header, and other programs do not. */
const isNavigation = ({ method, headers }: Request): boolean =>
  method === 'GET' &&
  headers.get('sec-fetch-mode') === 'navigate' &&
  (weightsOf(headers.get('accept') ?? '').get('text/html') ?? 0) > 0

/** The console shows a person what its address answers to programs as JSON. */
export const shownRequest = (request: Request): Request => {
  const path = pathOf(request.url)
  if (!(isControl(path) || path === '/openapi.json') || !isNavigation(request)) return request
  if (path.startsWith(CONSOLE_PATH)) return request
  return new Request(new URL(CONSOLE_PATH, request.url).href, { headers: request.headers })
}

/** An unknown address gets a person a page with links, unless the reference has its own. */
export const shownResponse = (request: Request, response: Response): Response => {
  if (response.status !== 404 || !isNavigation(request)) return response
  const headers = new Headers(response.headers)
  if (headers.get('content-type')?.startsWith('text/html')) return response
  for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value)
  headers.delete('content-length')
  return new Response(NOT_FOUND_PAGE, { status: 404, headers })
}
