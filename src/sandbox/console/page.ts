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
