import { Elysia } from 'elysia'
import { ROUTE_NOT_FOUND } from '../http/failures.ts'
import { JSON_TYPE } from '../http/json.ts'
import { DomainError } from '../kernel/failure.ts'
import { fileHeaders, PAGE_HEADERS, SCRIPT_PATH, STYLE_PATH } from '../pages/page.ts'
import STYLE from '../pages/style.css' with { type: 'text' }
import { filesOf, guidesOf, llmsText } from './guides.ts'
import { servedMarkdown } from './markdown.ts'
import { type DocumentOptions, openApiDocument } from './openapi.ts'
import { linkIn, ownOf, Reference } from './reference.ts'
import { withReferences } from './references.ts'

const file = (text: string, type: string): Response => new Response(text, { headers: fileHeaders(type) })

/** The OpenAPI document and the pages that show it: public, and whole without a network (contract C1). */
export const docsRoutes = (options: DocumentOptions) => {
  const isLive = options.additions === undefined
  const guides = guidesOf(isLive)
  const files = filesOf(isLive)
  const document = once(async () => openApiDocument(options))
  const json = once(async () => servedBySwagger(withReferences(await document())))
  const reference = once(
    async () => new Reference({ document: await document(), guides, files, console: options.additions?.console }),
  )
  const index = once(async () => JSON.stringify(await (await reference()).index()))
  const page = async (path: string): Promise<Response> => {
    const pages = await reference()
    const text = await pages.findPage(path)
    const status = text === undefined ? 404 : 200
    return new Response(text ?? pages.notFound(), { status, headers: PAGE_HEADERS })
  }

  const llms = llmsText(options.publicUrl, guides)
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
    .get('/docs', () => page('/docs'))
    .get('/docs/operations/:id', ({ params: { id } }) => page(`/docs/operations/${id}`))
    .get('/docs/events/:type', ({ params: { type } }) => page(`/docs/events/${type}`))
    .get('/docs/guides/*', ({ params: { '*': path } }) =>
      path.includes('.') ? asItIs(path) : page(`/docs/guides/${path}`),
    )
    .get('/llms.txt', () => file(llms, 'text/markdown'))
    .get('/docs/search.json', async () => file(await index(), 'application/json'))
    .get(STYLE_PATH, () => file(STYLE, 'text/css'))
    // If Scrip runs from its sources, the first request for the script bundles it.
    .get(SCRIPT_PATH, async () => file((await import('../pages/script.ts')).SCRIPT, 'text/javascript'))
  // The sandbox has its own front page.
  return isLive ? routes.get('/', () => page('/docs')) : routes
}

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
