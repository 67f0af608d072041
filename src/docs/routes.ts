import { Elysia } from 'elysia'
import { ROUTE_NOT_FOUND } from '../http/failures.ts'
import { JSON_TYPE } from '../http/json.ts'
import { DomainError } from '../kernel/failure.ts'
import { fileHeaders, PAGE_HEADERS, SCRIPT_PATH, STYLE_PATH } from '../pages/page.ts'
import STYLE from '../pages/style.css' with { type: 'text' }
import type { ApiDocument } from './document.ts'
import { filesOf, guidesOf, llmsText } from './guides.ts'
import { servedMarkdown } from './markdown.ts'
import { type DocumentOptions, openApiDocument } from './openapi.ts'
import { linkIn, ownOf, Reference } from './reference.ts'
import { withReferences } from './references.ts'

const file = (text: string, type: string): Response => new Response(text, { headers: fileHeaders(type) })

/** The OpenAPI document and the pages that show it: public, and whole without a network (contract C1). */
export const docsRoutes = (options: DocumentOptions) => {
  const document = once(async () => openApiDocument(options))
  const json = once(async () => servedBySwagger(withReferences(await document())))
  const reference = once(async () => referenceOf(options, await document()))
  const index = once(async () => JSON.stringify(await (await reference()).index()))
  const page = async (
    make: (pages: Reference) => string | undefined | Promise<string | undefined>,
  ): Promise<Response> => {
    const pages = await reference()
    const text = await make(pages)
    const status = text === undefined ? 404 : 200
    return new Response(text ?? pages.notFound(), { status, headers: PAGE_HEADERS })
  }

  const isLive = options.additions === undefined
  const guides = guidesOf(isLive)
  const llms = llmsText(options.publicUrl, guides)
  const files = filesOf(isLive)
  /** A guide for programs that read Markdown, without links to pages that are not served; or a file that a guide names. */
  const asItIs = async (path: string): Promise<Response> => {
    const [namedFile, name] = [ownOf(files, path), path.replace(/\.md$/, '')]
    if (namedFile) return file(await Bun.file(namedFile.file).text(), 'text/plain')
    const guide = name === path ? undefined : ownOf(guides, name)
    if (!guide) throw new DomainError(ROUTE_NOT_FOUND)
    return file(servedMarkdown(await Bun.file(guide.file).text(), linkIn(guides, files)), 'text/markdown')
  }

  const routes = new Elysia({ name: 'docs' })
    .get(SPEC_PATH, async () => new Response(await json(), { headers: { 'content-type': JSON_TYPE } }))
    .get('/docs', () => page((pages) => pages.overview()))
    .get('/docs/operations/:id', ({ params: { id } }) => page((pages) => pages.findOperation(id)))
    .get('/docs/events/:type', ({ params: { type } }) => page((pages) => pages.findEvent(type)))
    .get('/docs/guides/*', ({ params: { '*': path } }) =>
      path.includes('.') ? asItIs(path) : page((pages) => pages.findGuide(path)),
    )
    .get('/llms.txt', () => file(llms, 'text/markdown'))
    .get('/docs/search.json', async () => file(await index(), 'application/json'))
    .get(STYLE_PATH, () => file(STYLE, 'text/css'))
    // If Scrip runs from its sources, the first request for the script bundles it.
    .get(SCRIPT_PATH, async () => file((await import('../pages/script.ts')).SCRIPT, 'text/javascript'))
  // The sandbox has its own front page.
  return isLive ? routes.get('/', () => page((pages) => pages.overview())) : routes
}

const referenceOf = ({ additions }: DocumentOptions, document: ApiDocument): Reference =>
  new Reference({
    document,
    guides: guidesOf(additions === undefined),
    files: filesOf(additions === undefined),
    console: additions?.console,
  })

const SPEC_PATH = '/openapi.json'

/** The plugin's own page loads a script from outside (contract C1), so that clients reach its document alone. */
const servedBySwagger = async (documentation: object): Promise<string> => {
  // Loaded with the first request for the document: it would take a part of the time that the program takes to start.
  const { swagger } = await import('@elysiajs/swagger')
  const app = new Elysia().use(swagger({ documentation, specPath: SPEC_PATH }))
  return (await app.handle(new Request(`http://localhost${SPEC_PATH}`))).text()
}

/** Makes a value when it is first asked for. */
const once = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}
