import type { Picture } from '../pages/drawing.ts'
import { Html, html, methodBadge, prose } from '../pages/html.ts'
import { drawPage, SCRIPT_PATH } from '../pages/page.ts'
import { type ApiDocument, type Entry, entriesOf } from './document.ts'
import type { Guides } from './guides.ts'

/** The frame around each page of the reference, with its navigation. */

export const OPERATIONS = '/docs/operations'
export const EVENTS = '/docs/events'
export const GUIDES_PATH = '/docs/guides'

export interface Frame {
  document: ApiDocument
  guides: Guides
  files: object
  /** By the first word of a path below `/api/v1` or `/_sandbox`: `payouts`. */
  pictures: Readonly<Record<string, Picture>>
  /** The path of the console, which only the sandbox has. */
  console: string | undefined
}

export const pageOf = (frame: Frame, path: string, title: string, content: Html): string =>
  drawPage({
    title: `${title} · Scrip`,
    script: SCRIPT_PATH,
    kind: 'reference',
    body: html`<a class="skip button" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/">Scrip</a>
<a href="/docs">Reference</a>
</header>
<div class="frame">
<details class="menu" open><summary>Menu</summary>${navigation(frame, path)}</details>
<main id="main" tabindex="-1" data-url="${frame.document.servers[0].url}">${content}</main>
</div>`,
  })

/** Operations by their first tag, in the order of the document. */
const groupsOf = (document: ApiDocument): { name: string; description: string; entries: Entry[] }[] => {
  const entries = Map.groupBy(entriesOf(document), ({ operation }) => operation.tags[0])
  return document.tags.map((tag) => ({ ...tag, entries: entries.get(tag.name) ?? [] }))
}

const navigation = ({ document, guides }: Frame, path: string): Html => {
  const groups: [name: string, items: [href: string, text: Html | string][]][] = [
    ['Guides', Object.entries(guides).map(([name, { title }]) => [`${GUIDES_PATH}/${name}`, title])],
    ...groupsOf(document).map(({ name, entries }): (typeof groups)[number] => [
      name,
      entries.map(({ method, operation: { operationId, summary } }) => [
        `${OPERATIONS}/${operationId}`,
        html`<span>${summary}</span> ${methodBadge(method)}`,
      ]),
    ]),
    ['Event types', Object.keys(document.webhooks).map((type) => [`${EVENTS}/${type}`, html`<code>${type}</code>`])],
  ]
  return html`<nav aria-label="Reference"><ul>${groups.map(([name, items], index) => {
    const isOpen = index === 0 || items.some(([href]) => href === path)
    const links = items.map(
      ([href, text]) => html`<li><a href="${href}"${href === path && html` aria-current="page"`}>${text}</a></li>`,
    )
    return html`<li><details${isOpen && html` open`}><summary>${name}</summary><ul>${links}</ul></details></li>`
  })}</ul></nav>`
}

/** The sections of a page, below its title. */
export const sectionLinks = ({ text }: Html): Html => {
  const links = [...text.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/gs)].map(
    ([, id, heading = '']) => html`<a href="#${id}">${new Html(heading.replace(/<\/?a\b[^>]*>/g, ''))}</a> `,
  )
  return html`${links.length > 1 && html`<nav class="line" aria-label="On this page">${links}</nav>`}`
}

export const overview = ({ document, guides }: Frame): Html => html`<article>
<header><h1>${document.info.title} API <small class="tag">${document.info.version}</small></h1></header>
${document.info.description.split('\n\n').map((paragraph) => html`<p class="lead">${prose(paragraph)}</p>`)}
<p><a href="/openapi.json">OpenAPI document</a> for generators and other tools.</p>
<h2>Guides</h2>
${[...Map.groupBy(Object.entries(guides), ([, { task }]) => task)].map(
  ([task, entries]) =>
    html`<h3>${task}</h3><ul class="grid places">${entries.map(
      ([name, { title, about }]) =>
        html`<li><a class="box" href="${GUIDES_PATH}/${name}"><strong>${title}</strong><span>${about}</span></a></li>`,
    )}</ul>`,
)}
<h2>Operations</h2>
${groupsOf(document).map(
  ({ name, description, entries }) => html`<section><h3>${name}</h3><p class="soft">${prose(description)}</p>
<ul class="operations">${entries.map(
    ({ method, path, operation }) =>
      html`<li><a href="${OPERATIONS}/${operation.operationId}">${methodBadge(method)} <code>${path}</code> <span class="soft">${operation.summary}</span></a></li>`,
  )}</ul></section>`,
)}
</article>`

export const notFoundView: Html = html`<article><header><h1>Page not found</h1></header>
<p class="lead"><a href="/docs">The reference</a> lists every operation, event and guide.</p></article>`
