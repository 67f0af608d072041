import { Elysia } from 'elysia'
import { StoredResponse } from '../../http/stored-response.ts'
import { CONSOLE_PAGE, CONSOLE_PATH, CONSOLE_POLICY } from './page.ts'
import { STYLE } from './style.ts'

/** Browsers must not guess the type of a file, and must check each time whether it has changed. */
const headersOf = (type: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
})

/** The console (decision 80): a page without data, open to everyone. It reads its data behind the gate. */
export const consoleRoutes = () => {
  const page = new StoredResponse(CONSOLE_PAGE, {
    ...headersOf('text/html'),
    'content-security-policy': CONSOLE_POLICY,
    'referrer-policy': 'no-referrer',
  })
  const style = new StoredResponse(STYLE, headersOf('text/css'))
  let script: StoredResponse | undefined
  return new Elysia({ name: 'sandbox-console', prefix: CONSOLE_PATH })
    .get('/', ({ request }) => page.respond(request))
    .get('/page.css', ({ request }) => style.respond(request))
    .get('/page.js', async ({ request }) => {
      // Loaded with the first request for it. When Scrip runs from its sources, the page is bundled then.
      script ??= new StoredResponse((await import('./script.ts')).SCRIPT, headersOf('text/javascript'))
      return script.respond(request)
    })
}
