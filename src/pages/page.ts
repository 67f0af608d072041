import { type Html, html } from './html.ts'

/** The common parts of all pages: their head, their policy, and the files that they load. */

export const STYLE_PATH = '/docs/style.css'
export const SCRIPT_PATH = '/docs/page.js'

/** Everything comes from the program itself, and pages contain no inline scripts or styles. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%234a3fb8'/%3E%3Cpath d='M4 6h8v5H4z' fill='%23fff'/%3E%3C/svg%3E"

/** Browsers must not guess the type of a file. */
export const fileHeaders = (type: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'x-content-type-options': 'nosniff',
})

export const PAGE_HEADERS = {
  ...fileHeaders('text/html'),
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
}

interface HtmlPage {
  title: string
  /** The program of the page, if it has one. */
  script?: string
  /** The kind of page, for its style. */
  kind: 'reference' | 'front' | 'console' | 'console desk'
  body: Html
}

export const drawPage = ({ title, script, kind, body }: HtmlPage): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${STYLE_PATH}">
${script !== undefined && html`<script type="module" src="${script}"></script>`}
</head>
<body class="${kind}">
${body}
</body>
</html>
`.text
