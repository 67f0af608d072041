import { type AnyElysia, Elysia } from 'elysia'
import { openApiDocument } from './openapi.ts'
import { PAGE_ASSETS, PAGE_POLICY, REFERENCE_PAGE } from './page.ts'

/** The OpenAPI document and the page that shows it: public, and whole without a network (contract C1). */
export const docsRoutes = ({
  app,
  version,
  publicUrl,
}: {
  app: () => AnyElysia
  version: string
  publicUrl: string
}) => {
  let document: string | undefined
  const made = async (): Promise<string> => JSON.stringify(await openApiDocument(app(), version, publicUrl))

  const routes = new Elysia({ name: 'docs' })
    .get('/openapi.json', async ({ set }) => {
      set.headers['content-type'] = 'application/json'
      document ??= await made()
      return document
    })
    .get('/docs', ({ set }) => {
      set.headers['content-type'] = 'text/html; charset=utf-8'
      set.headers['content-security-policy'] = PAGE_POLICY
      return REFERENCE_PAGE
    })
  for (const [name, asset] of Object.entries(PAGE_ASSETS)) {
    // Packed once, at first use: the script is 1.5 MB as it is.
    let packed: Promise<Uint8Array> | undefined
    routes.get(`/docs/${name}`, async ({ request, set }) => {
      set.headers['content-type'] = asset.type
      set.headers['cache-control'] = 'public, max-age=3600'
      set.headers.vary = 'accept-encoding'
      if (!takesGzip(request)) return new Response(Bun.file(asset.path))
      set.headers['content-encoding'] = 'gzip'
      packed ??= gzipped(asset.path)
      return new Response(await packed)
    })
  }
  return routes
}

const takesGzip = (request: Request): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers.get('accept-encoding') ?? '')

const gzipped = async (path: string): Promise<Uint8Array> => Bun.gzipSync(await Bun.file(path).bytes())
