import { Elysia } from 'elysia'
import COLOURS from '../http/colours.css' with { type: 'text' }
import { JSON_TYPE } from '../http/json.ts'
import style from './assets/reference.css' with { type: 'file' }
import script from './assets/reference.js' with { type: 'file' }
import type { ApiDocument } from './document.ts'
import { guidesOf, llmsText } from './guides.ts'
import { type DocumentOptions, openApiDocument } from './openapi.ts'
import { PAGE_POLICY } from './page.ts'
import { Reference } from './reference.ts'
import { withReferences } from './references.ts'

/** Browsers must not guess the type of a file. */
const AS_IT_SAYS = { 'x-content-type-options': 'nosniff' } as const
const FRESH = { 'cache-control': 'public, no-cache', ...AS_IT_SAYS } as const
const JSON_HEADERS = { 'content-type': JSON_TYPE, ...FRESH } as const
const MARKDOWN_HEADERS = { 'content-type': 'text/markdown; charset=utf-8', ...FRESH } as const
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  ...FRESH,
} as const

/** The OpenAPI document and the pages that show it: public, and whole without a network (contract C1). */
export const docsRoutes = (options: DocumentOptions) => {
  const document = once(async () => openApiDocument(options))
  const documentJson = once(async () => JSON.stringify(withReferences(await document())))
  const reference = once(async () => referenceOf(options, await document()))
  const index = once(async () => JSON.stringify(await (await reference()).index()))
  const pages = pagesOf(reference)

  const guides = guidesOf(options.additions === undefined)
  /** A guide as it is, for programs that read Markdown. */
  const markdown = async (name: string): Promise<Response> => {
    const guide = Object.hasOwn(guides, name) ? guides[name] : undefined
    return guide ? sent(await Bun.file(guide.file).text(), MARKDOWN_HEADERS) : notFound(await reference())
  }

  return new Elysia({ name: 'docs' })
    .get('/openapi.json', async () => sent(await documentJson(), JSON_HEADERS))
    .get('/docs', () => pages('', (all) => all.overview()))
    .get('/docs/operations/:id', ({ params: { id } }) => pages(`operations/${id}`, (all) => all.findOperation(id)))
    .get('/docs/events/:type', ({ params: { type } }) => pages(`events/${type}`, (all) => all.findEvent(type)))
    .get('/docs/guides/:name', ({ params: { name } }) =>
      name.endsWith('.md')
        ? markdown(name.slice(0, -'.md'.length))
        : pages(`guides/${name}`, (all) => all.findGuide(name)),
    )
    .get('/llms.txt', () => sent(llmsText(options.publicUrl, guides), MARKDOWN_HEADERS))
    .get('/docs/search.json', async () => sent(await index(), JSON_HEADERS))
    .get('/docs/reference.js', async () => sent(await Bun.file(script).text(), assetHeaders('text/javascript')))
    .get('/docs/reference.css', async () => sent(COLOURS + (await Bun.file(style).text()), assetHeaders('text/css')))
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
  const made = new Map<string, string>()
  return async (
    name: string,
    make: (all: Reference) => string | undefined | Promise<string | undefined>,
  ): Promise<Response> => {
    const all = await reference()
    const text = made.get(name) ?? (await make(all))
    if (text === undefined) return notFound(all)
    made.set(name, text)
    return sent(text, PAGE_HEADERS)
  }
}

const notFound = (all: Reference): Response => new Response(all.notFound(), { status: 404, headers: PAGE_HEADERS })

/** Makes a value when it is first asked for. */
const once = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}

const sent = (text: string, headers: Readonly<Record<string, string>>): Response => new Response(text, { headers })

const assetHeaders = (type: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'cache-control': 'public, max-age=3600',
  ...AS_IT_SAYS,
})
