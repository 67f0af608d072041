import { methodBadge } from './blocks.ts'
import { type ApiDocument, type Entry, entriesOf } from './document.ts'
import type { Guides } from './guides.ts'
import { type Html, html, prose } from './html.ts'

/** The frame around each page of the reference: search, navigation, login. */

export const OPERATIONS = '/docs/operations'
export const EVENTS = '/docs/events'
export const GUIDES_PATH = '/docs/guides'

/** The browser loads only what the program serves, and runs nothing that stands in a page. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "style-src 'self'",
  "script-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%234a3fb8'/%3E%3Cpath d='M4 6h8v5H4z' fill='%23fff'/%3E%3C/svg%3E"

export interface Frame {
  document: ApiDocument
  guides: Guides
  /** What the login offers; empty where nobody is known in advance. */
  username: string
  /** Where the front page is, if there is one. */
  home: string
}

export const pageOf = (frame: Frame, path: string, title: string, content: Html): string =>
  String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Scrip</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/docs/reference.css">
<script type="module" src="/docs/reference.js"></script>
</head>
<body data-url="${frame.document.servers[0].url}">
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="${frame.home}"><svg viewBox="0 0 16 16" width="22" height="22" aria-hidden="true"><rect width="16" height="16" rx="4"/><path d="M4 6h8v5H4z"/></svg> Scrip</a>
<a class="here" href="/docs">Reference</a>
<button type="button" class="search" data-search hidden><span>Search</span> <kbd>/</kbd></button>
<button type="button" class="quiet" data-login hidden>Log in</button>
</header>
<div class="frame">
<details class="menu" open><summary>Menu</summary>${navigation(frame, path)}</details>
<main id="content" tabindex="-1">${content}</main>
</div>
${searchDialog}
${loginDialog(frame)}
</body>
</html>
`)

const searchDialog = html`<dialog id="search" aria-label="Search">
<form method="dialog"><label class="hidden" for="query">Search operations, events and guides</label><input id="query" role="searchbox" enterkeyhint="go" placeholder="Search operations, events and guides" autocomplete="off" spellcheck="false"><button class="quiet">Close</button></form>
<p id="found" class="soft" role="status"></p>
<ul id="results"></ul>
</dialog>`

const loginDialog = ({ username }: Frame): Html => html`<dialog id="login" aria-labelledby="login-title">
<form method="dialog">
<h2 id="login-title">Log in</h2>
<p class="soft">The token stays in the memory of this page: a reload forgets it.</p>
<label><span>Username</span><input name="username" value="${username}" autocomplete="off" required></label>
<label><span>Password</span><input name="password" type="password" value="${username}" autocomplete="off" required></label>
<p class="wrong" role="alert"></p>
<div class="actions"><button type="submit" value="login">Log in</button> <button type="submit" value="cancel" class="quiet" formnovalidate>Cancel</button></div>
</form>
</dialog>`

/** Operations by their first tag, in the order of the document. */
const groupsOf = (document: ApiDocument): { name: string; description: string; entries: Entry[] }[] => {
  const entries = Map.groupBy(entriesOf(document), ({ operation }) => operation.tags[0])
  return document.tags.map((tag) => ({ ...tag, entries: entries.get(tag.name) ?? [] }))
}

const navigation = ({ document, guides }: Frame, path: string): Html => {
  const item = (href: string, text: Html | string) =>
    html`<li><a href="${href}"${href === path && html` aria-current="page"`}>${text}</a></li>`
  const group = (name: string, items: { href: string; text: Html | string }[], isOpen: boolean) =>
    html`<li><details${(isOpen || items.some(({ href }) => href === path)) && html` open`}><summary>${name}</summary><ul>${items.map(({ href, text }) => item(href, text))}</ul></details></li>`
  return html`<nav aria-label="Reference"><ul>
${group(
  'Guides',
  Object.entries(guides).map(([name, { title }]) => ({ href: `${GUIDES_PATH}/${name}`, text: title })),
  true,
)}
${groupsOf(document).map(({ name, entries }) =>
  group(
    name,
    entries.map(({ method, operation }) => ({
      href: `${OPERATIONS}/${operation.operationId}`,
      text: html`<span>${operation.summary}</span> ${methodBadge(method)}`,
    })),
    false,
  ),
)}
${group(
  'Event types',
  Object.keys(document.webhooks).map((type) => ({ href: `${EVENTS}/${type}`, text: html`<code>${type}</code>` })),
  false,
)}
</ul></nav>`
}

/** Where to begin. */
export const overview = ({ document, guides }: Frame): Html => html`<article class="overview">
<header><h1>${document.info.title} API <small>${document.info.version}</small></h1></header>
${document.info.description.split('\n\n').map((paragraph) => html`<p class="lead">${prose(paragraph)}</p>`)}
<p><a href="/openapi.json" data-plain>OpenAPI document</a> for generators and other tools.</p>
<h2>Guides</h2>
<ul class="cards">${Object.entries(guides).map(
  ([name, { title, about }]) =>
    html`<li><a href="${GUIDES_PATH}/${name}"><strong>${title}</strong><span>${about}</span></a></li>`,
)}</ul>
<h2>Operations</h2>
${groupsOf(document).map(
  ({ name, description, entries }) => html`<section><h3>${name}</h3><p class="soft">${prose(description)}</p>
<ul class="list">${entries.map(
    ({ method, path, operation }) =>
      html`<li><a href="${OPERATIONS}/${operation.operationId}">${methodBadge(method)} <code>${path}</code> <span>${operation.summary}</span></a></li>`,
  )}</ul></section>`,
)}
</article>`

export const notFoundView: Html = html`<article><header><h1>Page not found</h1></header>
<p class="lead"><a href="/docs">The reference</a> lists every operation, event and guide.</p></article>`
