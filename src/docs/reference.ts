import { Html, html } from '../pages/html.ts'
import { adviceAbout } from './advice.ts'
import { type ApiDocument, type DocumentedOperation, entriesOf, errorsIn } from './document.ts'
import type { Guides } from './guides.ts'
import { renderGuide, servedPath } from './markdown.ts'
import { eventView, operationView } from './operation-page.ts'
import { EVENTS, type Frame, GUIDES_PATH, notFoundView, OPERATIONS, overview, pageOf, sectionLinks } from './page.ts'

/** The pages of the reference, by their paths. Each is made when it is asked for. */

/** One line of the search. */
interface Found {
  title: string
  /** The kind of the page, or the path of the operation. */
  kind: string
  href: string
  /** Names that find it. */
  words: string
  /** Its text, of which a result shows the part that was found. */
  text: string
}

export class Reference {
  constructor(private readonly frame: Frame) {}

  overview(): string {
    return pageOf(this.frame, '/docs', 'Reference', overview(this.frame))
  }

  /** Undefined when there is no such operation. */
  findOperation(id: string): string | undefined {
    const { document, console } = this.frame
    const entry = entriesOf(document).find(({ operation }) => operation.operationId === id)
    return (
      entry &&
      pageOf(this.frame, `${OPERATIONS}/${id}`, entry.operation.summary, operationView(document, entry, console))
    )
  }

  /** Undefined when there is no such type of event. */
  findEvent(type: string): string | undefined {
    const { document } = this.frame
    const event = ownOf(document.webhooks, type)
    return event && pageOf(this.frame, `${EVENTS}/${type}`, type, eventView(document, type, event.post))
  }

  /** Undefined when there is no such guide. */
  async findGuide(name: string): Promise<string | undefined> {
    const guide = ownOf(this.frame.guides, name)
    if (!guide) return undefined
    const { view } = await this.#rendered(guide.file)
    return pageOf(
      this.frame,
      `${GUIDES_PATH}/${name}`,
      guide.title,
      html`<article class="guide">${withSections(view)}</article>`,
    )
  }

  notFound(): string {
    return pageOf(this.frame, '', 'Not found', notFoundView)
  }

  /** The entries that the search looks through. */
  async index(): Promise<Found[]> {
    const guides = await Promise.all(
      Object.entries(this.frame.guides).map(async ([name, { title, file }]) =>
        (await this.#rendered(file)).sections.map(({ id, heading, level, body }) => ({
          title: heading,
          kind: level === 1 ? 'Guide' : title,
          href: `${GUIDES_PATH}/${name}${level === 1 ? '' : `#${id}`}`,
          words: title,
          text: body,
        })),
      ),
    )
    return [...operationsIn(this.frame.document), ...guides.flat()]
  }

  async #rendered(file: string): Promise<ReturnType<typeof renderGuide>> {
    return renderGuide(await Bun.file(file).text(), linkIn(this.frame.guides, this.frame.files))
  }
}

const errorFound = (name: string, { operationId, summary }: DocumentedOperation): Found => ({
  title: name,
  kind: 'Error',
  href: `${OPERATIONS}/${operationId}#${name}`,
  words: summary,
  text: adviceAbout(name) ?? '',
})

/** The title of a guide is its first line. */
const withSections = (view: Html): Html => new Html(view.text.replace('</h1>', `</h1>${sectionLinks(view)}`))

const operationsIn = (document: ApiDocument): Found[] => [
  ...entriesOf(document).map(({ method, path, operation }) => ({
    title: operation.summary,
    kind: `${method} ${path}`,
    href: `${OPERATIONS}/${operation.operationId}`,
    words: [`${method} ${path}`, operation.operationId, ...operation.tags].join(' '),
    text: operation.description,
  })),
  ...new Map(
    entriesOf(document).flatMap(({ operation }) =>
      errorsIn(operation).map(({ name }) => [name, errorFound(name, operation)] as const),
    ),
  ).values(),
  ...Object.entries(document.webhooks).map(([type, { post }]) => ({
    title: type,
    kind: 'Event',
    href: `${EVENTS}/${type}`,
    words: 'webhook',
    text: post.description,
  })),
]

export const ownOf = <Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** The target of a link in a guide: another guide, a file, a place in the page, or another site. Other files are not served. */
export const linkIn =
  (guides: Guides, files: object) =>
  (href: string): string | undefined => {
    if (/^(?:https?:|#)/.test(href)) return href
    const path = servedPath(href)
    if (Object.hasOwn(files, path)) return `${GUIDES_PATH}/${path}`
    const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(path) ?? []
    return Object.hasOwn(guides, name) ? `${GUIDES_PATH}/${name}${anchor}` : undefined
  }
