import { html } from '../../pages/html.ts'
import { drawPage } from '../../pages/page.ts'

export const CONSOLE_PATH = '/_sandbox/console'

export const CONSOLE_PAGE = drawPage({
  title: 'Scrip console',
  script: `${CONSOLE_PATH}/page.js`,
  kind: 'console',
  body: html`<div id="console"></div>
<noscript><main class="lost"><h1>The console needs JavaScript</h1><p><a href="/">Home</a></p></main></noscript>`,
})

export const NOT_FOUND_PAGE = drawPage({
  title: 'Not found · Scrip',
  kind: 'front',
  body: html`<header class="top">
<a class="brand" href="/">Scrip</a>
</header>
<main class="lost">
<h1>Page not found</h1>
<p>This sandbox has no page at this address.</p>
<p><a href="/">Start page</a><a href="${CONSOLE_PATH}">Console</a><a href="/docs">Reference and guides</a></p>
</main>`,
})
