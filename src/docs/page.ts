import { createHash } from 'node:crypto'
import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import swaggerBundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }

/** The files that the reference page loads, carried by the binary. */
export const PAGE_ASSETS: Record<string, { path: string; type: string }> = {
  'swagger-ui-bundle.js': { path: swaggerBundle, type: 'text/javascript; charset=utf-8' },
  'swagger-ui.css': { path: swaggerStyle, type: 'text/css; charset=utf-8' },
}

/** Calls go to where the page came from, whatever address the document names. */
const SCRIPT = `
fetch('/openapi.json').then((response) => response.json()).then((document) => {
  SwaggerUIBundle({
    spec: { ...document, servers: [{ url: location.origin }] },
    dom_id: '#reference',
    deepLinking: true,
    persistAuthorization: true,
    displayRequestDuration: true,
  })
})
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
<style>body { margin: 0 } .swagger-ui .topbar, .swagger-ui .scheme-container .servers-title { display: none }</style>
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>${SCRIPT}</script>
</body>
</html>
`

/** Nothing from outside, not even by mistake: the browser is told to load only what the program serves. */
export const PAGE_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  `script-src 'self' 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
].join('; ')
