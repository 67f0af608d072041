import { Elysia } from 'elysia'
import COLOURS from '../http/colours.css' with { type: 'text' }
import { StoredResponse } from '../http/stored-response.ts'
import style from './assets/reference.css' with { type: 'file' }
import script from './assets/reference.js' with { type: 'file' }
import type { ApiDocument } from './document.ts'
import { guidesOf, llmsText } from './guides.ts'
import { type DocumentOptions, openApiDocument } from './openapi.ts'
import { PAGE_POLICY } from './page.ts'
import { Reference } from './reference.ts'

/** Browsers must not guess the type of a file. */
const AS_IT_SAYS = { 'x-content-type-options': 'nosniff' } as const
const JSON_HEADERS = { 'cache-control': 'public, no-cache', ...AS_IT_SAYS } as const
const MARKDOWN_HEADERS = { 'content-type': 'text/markdown; charset=utf-8', ...JSON_HEADERS } as const
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  ...JSON_HEADERS,
} as const

/** The OpenAPI document and the pages that show it: public, and whole without a network (contract C1). */
export const docsRoutes = (options: DocumentOptions) => {
  const document = once(() => openApiDocument(options))
  const stored = once(async () => new StoredResponse(JSON.stringify(await document()), JSON_HEADERS))
  const reference = once(async () => referenceOf(options, await document()))
  const page = pagesOf(reference)
  const index = once(async () => new StoredResponse(JSON.stringify(await (await reference()).index()), JSON_HEADERS))
  const readScript = once(async () => asset(await Bun.file(script).text(), 'text/javascript; charset=utf-8'))
  const readStyle = once(async () => asset(COLOURS + (await Bun.file(style).text()), 'text/css; charset=utf-8'))

  const guides = guidesOf(options.additions === undefined)
  const llms = new StoredResponse(llmsText(options.publicUrl, guides), MARKDOWN_HEADERS)
  /** A guide as it is, for programs that read Markdown. */
  const markdown = async (request: Request, name: string): Promise<Response> => {
    const guide = Object.hasOwn(guides, name) ? guides[name] : undefined
    if (!guide) return new Response((await reference()).notFound(), { status: 404, headers: PAGE_HEADERS })
    return new StoredResponse(await Bun.file(guide.file).text(), MARKDOWN_HEADERS).respond(request)
  }

  return new Elysia({ name: 'docs' })
    .get('/openapi.json', async ({ request }) => (await stored()).respond(request))
    .get('/docs', ({ request }) => page(request, '', (pages) => pages.overview()))
    .get('/docs/operations/:id', ({ request, params: { id } }) =>
      page(request, `operations/${id}`, (pages) => pages.findOperation(id)),
    )
    .get('/docs/events/:type', ({ request, params: { type } }) =>
      page(request, `events/${type}`, (pages) => pages.findEvent(type)),
    )
    .get('/docs/guides/:name', ({ request, params: { name } }) =>
      name.endsWith('.md')
        ? markdown(request, name.slice(0, -'.md'.length))
        : page(request, `guides/${name}`, (pages) => pages.findGuide(name)),
    )
    .get('/llms.txt', ({ request }) => llms.respond(request))
    .get('/docs/search.json', async ({ request }) => (await index()).respond(request))
    .get('/docs/reference.js', async ({ request }) => (await readScript()).respond(request))
    .get('/docs/reference.css', async ({ request }) => (await readStyle()).respond(request))
}

const referenceOf = ({ additions }: DocumentOptions, document: ApiDocument): Reference =>
  new Reference({
    document,
    guides: guidesOf(additions === undefined),
    username: additions?.username ?? '',
    home: additions ? '/' : '/docs',
  })

/** Pages never change, so they are made once; only those that exist are kept. */
const pagesOf = (reference: () => Promise<Reference>) => {
  const pages = new Map<string, StoredResponse>()
  return async (
    request: Request,
    name: string,
    make: (pages: Reference) => string | undefined | Promise<string | undefined>,
  ): Promise<Response> => {
    const known = pages.get(name)
    if (known) return known.respond(request)
    const all = await reference()
    const text = await make(all)
    if (text === undefined) return new Response(all.notFound(), { status: 404, headers: PAGE_HEADERS })
    const made = new StoredResponse(text, PAGE_HEADERS)
    pages.set(name, made)
    return made.respond(request)
  }
}

/** Makes a value when it is first asked for. */
const once = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}

const asset = (text: string, type: string): StoredResponse =>
  new StoredResponse(text, { 'content-type': type, 'cache-control': 'public, max-age=3600', ...AS_IT_SAYS })
