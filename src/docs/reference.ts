import { type Picture, pictureView } from '../pages/drawing.ts'
import { Html, html } from '../pages/html.ts'
import { adviceAbout } from './advice.ts'
import { type ApiDocument, type DocumentedOperation, entriesOf, errorsIn } from './document.ts'
import { SCREENSHOTS } from './guides.ts'
import { renderGuide, servedPath } from './markdown.ts'
import { operationView } from './operation-page.ts'
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

export class ReferencePages {
  /** The operations by the paths of their pages. */
  readonly #operations: ReadonlyMap<string, ReturnType<typeof entriesOf>[number]>

  constructor(private readonly frame: Frame) {
    const entries = entriesOf(frame.document)
    this.#operations = new Map(entries.map((entry) => [`${OPERATIONS}/${entry.operation.operationId}`, entry]))
  }

  /** Undefined when there is no page at the path. */
  async findPage(path: string): Promise<string | undefined> {
    const content = await this.#contentAt(path)
    return content && pageOf(this.frame, path, ...content)
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

  async #contentAt(path: string): Promise<[title: string, view: Html] | undefined> {
    const { document, guides, pictures, console } = this.frame
    if (path === '/docs') return ['Reference', overview(this.frame)]
    const name = path.split('/').at(-1) ?? ''
    const event = path === `${EVENTS}/${name}` ? ownOf(document.webhooks, name) : undefined
    if (event) return [name, operationView(document, { method: 'POST', path: name, operation: event.post }, undefined)]
    const guide = path === `${GUIDES_PATH}/${name}` ? ownOf(guides, name) : undefined
    if (guide)
      return [
        guide.title,
        html`<article class="guide">${withSections((await this.#rendered(guide.file)).view)}</article>`,
      ]
    const entry = this.#operations.get(path)
    const picture = pictures[/^\/(?:api\/v1|_sandbox)\/(\w+)/.exec(entry?.path ?? '')?.[1] ?? '']
    return entry && [entry.operation.summary, operationView(document, entry, console, picture)]
  }

  async #rendered(file: string): Promise<ReturnType<typeof renderGuide>> {
    const drawn = (path: string): Html | undefined => {
      const picture = pictureAt(this.frame.pictures, servedPath(path))
      return picture && pictureView(picture)
    }
    return renderGuide(await Bun.file(file).text(), linkIn(this.frame), drawn)
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

/** The picture of a file: `payouts.svg`. */
export const pictureAt = (pictures: Frame['pictures'], path: string): Picture | undefined =>
  ownOf(pictures, path.replace(/\.svg$/, ''))

/** The target of a link in a guide: another guide, a picture, a file, a place in the page, or another site. Other files are not served. */
export const linkIn =
  ({ guides, files, pictures }: Pick<Frame, 'guides' | 'files' | 'pictures'>) =>
  (href: string): string | undefined => {
    if (/^(?:https?:|#)/.test(href)) return href
    const path = servedPath(href)
    if (Object.hasOwn(files, path) || Object.hasOwn(SCREENSHOTS, path) || pictureAt(pictures, path))
      return `${GUIDES_PATH}/${path}`
    const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(path) ?? []
    return Object.hasOwn(guides, name) ? `${GUIDES_PATH}/${name}${anchor}` : undefined
  }
