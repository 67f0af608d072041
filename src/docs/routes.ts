import { type AnyElysia, Elysia } from 'elysia'
import { openApiDocument } from './openapi.ts'
import { PAGE_ASSETS, REFERENCE_PAGE } from './page.ts'

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
  let document: Promise<string> | undefined
  const made = async (): Promise<string> => JSON.stringify(await openApiDocument(app(), version, publicUrl))

  const routes = new Elysia({ name: 'docs' })
    .get('/openapi.json', ({ set }) => {
      set.headers['content-type'] = 'application/json'
      document ??= made()
      return document
    })
    .get('/docs', ({ set }) => {
      set.headers['content-type'] = 'text/html; charset=utf-8'
      return REFERENCE_PAGE
    })
  for (const [name, asset] of Object.entries(PAGE_ASSETS)) {
    routes.get(`/docs/${name}`, ({ set }) => {
      set.headers['content-type'] = asset.type
      set.headers['cache-control'] = 'public, max-age=3600'
      return new Response(Bun.file(asset.path))
    })
  }
  return routes
}
