import { Elysia } from 'elysia'
import { ROUTE_NOT_FOUND } from '../http/failures.ts'
import type { HttpLayer } from '../http/http-layer.ts'
import { JSON_TYPE } from '../http/json.ts'
import { madeOnce, PublicFile } from '../http/public-file.ts'
import { DomainError } from '../kernel/failure.ts'
import { SVG_TYPE } from '../pages/drawing.ts'
import { fileHeaders, PAGE_HEADERS, SCRIPT_PATH, STYLE_PATH } from '../pages/page.ts'
import STYLE from '../pages/style.css' with { type: 'text' }
import { filesOf, guidesOf, llmsText, SCREENSHOTS } from './guides.ts'
import { servedMarkdown } from './markdown.ts'
import { type DocumentOptions, openApiDocument } from './openapi.ts'
import { type Frame, GUIDES_PATH } from './page.ts'
import { linkIn, ownOf, pictureAt, ReferencePages } from './reference.ts'

const file = (text: string, type: string): PublicFile => new PublicFile(text, fileHeaders(type))

/** The OpenAPI document and the pages that show it: public, whole without a network (contract C1), and each made once. */
export const docsRoutes = (options: DocumentOptions, drawn: Frame['pictures'], { completePage }: HttpLayer) => {
  const { additions } = options
  const isLive = additions === undefined
  const pictures = { ...drawn, ...additions?.pictures }
  const guides = guidesOf(isLive)
  const files = filesOf(isLive)
  const document = madeOnce(() => openApiDocument(options))
  const json = madeOnce(async () => new PublicFile(JSON.stringify(await document()), { 'content-type': JSON_TYPE }))
  const reference = madeOnce(
    async () =>
      new ReferencePages({ document: await document(), guides, files, pictures, console: additions?.console }),
  )
  const index = madeOnce(async () => file(JSON.stringify(await (await reference()).index()), 'application/json'))
  const notFound = madeOnce(async () => new Blob([(await reference()).notFound()]))

  /** The pages that were asked for, by their paths. */
  const pages = new Map<string, PublicFile>()
  const kept = async (path: string, make: () => Promise<PublicFile | undefined>): Promise<PublicFile | undefined> => {
    const page = pages.get(path) ?? (await make())
    if (page) pages.set(path, page)
    return page
  }
  const page = async (path: string): Promise<PublicFile | Response> => {
    const found = await kept(path, async () => {
      const text = await (await reference()).findPage(path)
      return text === undefined ? undefined : new PublicFile(text, PAGE_HEADERS)
    })
    return found ?? new Response(await notFound(), { status: 404, headers: PAGE_HEADERS })
  }
  /** A guide for programs that read Markdown, without links to pages that are not served; or a picture or file that a guide names. */
  const asItIs = async (path: string): Promise<PublicFile> => {
    const found = await kept(`${GUIDES_PATH}/${path}`, async () => {
      const [namedFile, name] = [ownOf(files, path), path.replace(/\.md$/, '')]
      const picture = pictureAt(pictures, path)
      if (picture) return file(picture.drawn.text, SVG_TYPE)
      const screenshot = ownOf(SCREENSHOTS, path)
      if (screenshot) return new PublicFile(await Bun.file(screenshot).bytes(), { 'content-type': 'image/webp' })
      if (namedFile) return file(await Bun.file(namedFile.file).text(), 'text/plain')
      const guide = name === path ? undefined : ownOf(guides, name)
      return (
        guide &&
        file(servedMarkdown(await Bun.file(guide.file).text(), linkIn({ guides, files, pictures })), 'text/markdown')
      )
    })
    if (!found) throw new DomainError(ROUTE_NOT_FOUND)
    return found
  }

  const llms = madeOnce(() => file(llmsText(options.publicUrl, guides), 'text/markdown'))
  const style = madeOnce(() => file(STYLE, 'text/css'))
  // If Scrip runs from its sources, the first request for the script bundles it.
  const script = madeOnce(async () => file((await import('../pages/script.ts')).SCRIPT, 'text/javascript'))

  // The framework awaits only handlers that are written as async.
  const routes = new Elysia({ name: 'docs' })
    .onAfterHandle(completePage)
    .get('/openapi.json', async () => json())
    .get('/docs', async () => page('/docs'))
    .get('/docs/operations/:id', async ({ params: { id } }) => page(`/docs/operations/${id}`))
    .get('/docs/events/:type', async ({ params: { type } }) => page(`/docs/events/${type}`))
    .get('/docs/guides/*', async ({ params: { '*': path } }) =>
      path.includes('.') ? asItIs(path) : page(`${GUIDES_PATH}/${path}`),
    )
    .get('/llms.txt', () => llms())
    .get('/docs/search.json', async () => index())
    .get(STYLE_PATH, () => style())
    .get(SCRIPT_PATH, async () => script())
  // The sandbox has its own front page.
  return isLive ? routes.get('/', async () => page('/docs')) : routes
}
