import { createHash } from 'node:crypto'
import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import swaggerBundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }

/** The files that the reference page loads, carried by the binary. */
export const PAGE_ASSETS: Record<string, { path: string; type: string }> = {
  'swagger-ui-bundle.js': { path: swaggerBundle, type: 'text/javascript; charset=utf-8' },
  'swagger-ui.css': { path: swaggerStyle, type: 'text/css; charset=utf-8' },
}

/**
 * Calls go to where the page came from, whatever address the document names. Who logs in by trying it out is logged in
 * for all other calls. The page is as dark as the rest of the screen.
 */
const SCRIPT = `
const dark = matchMedia('(prefers-color-scheme: dark)')
const dim = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', dim)
dim()
const logIn = (response) => {
  if (response.ok && /\\/auth\\/(?:login|refresh)$/.test(response.url)) {
    const schema = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }
    const accessToken = { name: 'accessToken', schema, value: response.body.access_token }
    reference.authActions.authorizeWithPersistOption({ accessToken })
  }
  return response
}
// What is shown as an example is sent by a click: a key that was used already would repeat the first response.
const withoutKeys = (parameters) => {
  for (const parameter of parameters) if (parameter.name === 'Idempotency-Key') delete parameter.example
}
let reference
fetch('/openapi.json').then((response) => response.json()).then((document) => {
  for (const path of Object.values(document.paths)) {
    for (const { parameters } of Object.values(path)) withoutKeys(parameters)
  }
  reference = SwaggerUIBundle({
    spec: { ...document, servers: [{ url: location.origin }] },
    dom_id: '#reference',
    deepLinking: true,
    persistAuthorization: false, // a token stays in the memory of this page
    displayRequestDuration: true,
    responseInterceptor: logIn,
  })
})
`

/**
 * Corrects what the library leaves: no response of ours has links, whose empty column made an opened operation wider than a
 * phone; names of headers are dark on dark; and on phones margins within margins leave the examples little room.
 */
const STYLE = `
body { margin: 0 }
.swagger-ui .topbar, .swagger-ui .scheme-container .servers-title, .swagger-ui .response-col_links { display: none }
html.dark-mode .swagger-ui table.headers td { color: #e4e6e6 }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 8px }
  .swagger-ui .table-container, .swagger-ui .responses-inner { padding: 12px }
  .swagger-ui .response-col_status { padding-right: 8px }
}
`

/** Shows the document and lets a person log in and try each call. */
export const REFERENCE_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Scrip API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>${STYLE}</style>
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>${SCRIPT}</script>
</body>
</html>
`

/** The browser loads only what the program serves. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  `script-src 'self' 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
