import { Elysia } from 'elysia'
import { StoredResponse } from '../http/stored-response.ts'
import { type DocumentOptions, openApiDocument } from './openapi.ts'
import { PAGE_ASSETS, PAGE_POLICY, REFERENCE_PAGE } from './page.ts'

/** Browsers must not guess the type of a file. */
const AS_IT_SAYS = { 'x-content-type-options': 'nosniff' } as const

/** The OpenAPI document and the page that shows it: public, and whole without a network (contract C1). */
export const docsRoutes = (options: DocumentOptions) => {
  let document: Promise<StoredResponse> | undefined
  const made = async (): Promise<StoredResponse> =>
    new StoredResponse(JSON.stringify(await openApiDocument(options)), {
      'cache-control': 'public, no-cache',
      ...AS_IT_SAYS,
    })

  const routes = new Elysia({ name: 'docs' })
    .get('/openapi.json', async ({ request }) => {
      document ??= made()
      return (await document).respond(request)
    })
    .get('/docs', ({ set }) => {
      set.headers['content-type'] = 'text/html; charset=utf-8'
      Object.assign(set.headers, AS_IT_SAYS)
      set.headers['content-security-policy'] = PAGE_POLICY
      return REFERENCE_PAGE
    })
  for (const [name, asset] of Object.entries(PAGE_ASSETS)) {
    let read: Promise<StoredResponse> | undefined
    routes.get(`/docs/${name}`, async ({ request }) => {
      read ??= readAsset(asset)
      return (await read).respond(request)
    })
  }
  return routes
}

const readAsset = async ({ path, type }: { path: string; type: string }): Promise<StoredResponse> =>
  new StoredResponse(await Bun.file(path).bytes(), {
    'content-type': type,
    'cache-control': 'public, max-age=3600',
    ...AS_IT_SAYS,
  })
