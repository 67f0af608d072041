import { Elysia } from 'elysia'
import type { HttpLayer } from '../../http/http-layer.ts'
import { madeOnce, PublicFile } from '../../http/public-file.ts'
import { html } from '../../pages/html.ts'
import { drawPage, fileHeaders, PAGE_HEADERS } from '../../pages/page.ts'

export const CONSOLE_PATH = '/_sandbox/console'

const PAGE = new PublicFile(
  drawPage({
    title: 'Scrip console',
    script: `${CONSOLE_PATH}/page.js`,
    kind: 'console',
    body: html`<div id="console"></div>
<noscript><main class="lost"><h1>The console needs JavaScript</h1><p><a href="/">Home</a></p></main></noscript>`,
  }),
  PAGE_HEADERS,
)

// If Scrip runs from its sources, the first request for the script bundles the page.
const script = madeOnce(
  async () => new PublicFile((await import('./script.ts')).SCRIPT, fileHeaders('text/javascript')),
)

/** The console (decision 80): a page without data, open without a token. It reads its data through the control API, which may need one. */
export const consoleRoutes = ({ completePage }: HttpLayer) =>
  new Elysia({ name: 'sandbox-console', prefix: CONSOLE_PATH })
    .onAfterHandle(completePage)
    .get('/', () => PAGE)
    .get('/page.js', async () => script())
