import { Elysia } from 'elysia'
import { fileHeaders, PAGE_HEADERS } from '../../pages/page.ts'
import { CONSOLE_PAGE, CONSOLE_PATH } from './page.ts'

/** The console (decision 80): a page without data, open without a token. It reads its data behind the gate. */
export const consoleRoutes = () =>
  new Elysia({ name: 'sandbox-console', prefix: CONSOLE_PATH })
    .get('/', () => new Response(CONSOLE_PAGE, { headers: PAGE_HEADERS }))
    // If Scrip runs from its sources, the first request for the script bundles the page.
    .get(
      '/page.js',
      async () => new Response((await import('./script.ts')).SCRIPT, { headers: fileHeaders('text/javascript') }),
    )
