import { Elysia } from 'elysia'
import { CONSOLE_PAGE, CONSOLE_PATH, CONSOLE_POLICY } from './page.ts'
import { STYLE } from './style.ts'

/** Browsers must not guess the type of a file, and must check each time whether it has changed. */
const headersOf = (type: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
})

const PAGE_HEADERS = {
  ...headersOf('text/html'),
  'content-security-policy': CONSOLE_POLICY,
  'referrer-policy': 'no-referrer',
}

/** The console (decision 80): a page without data, open to everyone. It reads its data behind the gate. */
export const consoleRoutes = () =>
  new Elysia({ name: 'sandbox-console', prefix: CONSOLE_PATH })
    .get('/', () => new Response(CONSOLE_PAGE, { headers: PAGE_HEADERS }))
    .get('/page.css', () => new Response(STYLE, { headers: headersOf('text/css') }))
    // Loaded with the first request for it. When Scrip runs from its sources, the page is bundled then.
    .get(
      '/page.js',
      async () => new Response((await import('./script.ts')).SCRIPT, { headers: headersOf('text/javascript') }),
    )
