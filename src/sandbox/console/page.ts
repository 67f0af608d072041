/** Everything comes from the program itself, and nothing stands in the page that could be replaced. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const CONSOLE_PATH = '/_sandbox/console'

/** The icon of the front page, too. */
export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%234a3fb8'/%3E%3Cpath d='M4 6h8v5H4z' fill='%23fff'/%3E%3C/svg%3E"

const head = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${CONSOLE_PATH}/page.css">`

export const CONSOLE_PAGE = `${head('Scrip console')}
<script type="module" src="${CONSOLE_PATH}/page.js"></script>
</head>
<body>
<div id="console"></div>
<noscript><main class="lost"><h1>The console needs JavaScript</h1><p><a href="/">Home</a></p></main></noscript>
</body>
</html>
`

export const NOT_FOUND_PAGE = `${head('Not found · Scrip')}
</head>
<body>
<header class="top">
<a class="brand" href="/">Scrip</a>
<nav aria-label="Pages"><a href="/">Home</a><a href="${CONSOLE_PATH}">Console</a><a href="/docs">API reference</a></nav>
</header>
<main class="lost">
<h1>Page not found</h1>
<p>This sandbox has no page at this address.</p>
<p><a href="/">Start page</a><a href="${CONSOLE_PATH}">Console</a><a href="/docs">Reference and guides</a></p>
</main>
</body>
</html>
`
