import { Type } from '@sinclair/typebox'
import { Json } from '../../http/json.ts'
import { PAGE_HEADERS } from '../../pages/page.ts'
import type { Parts } from '../parts.ts'
import { drawFrontPage, FrontFacts, frontFacts, purchaseFrom, shownOf } from './front-page.ts'
import { openRoutes } from './operation.ts'

/** The front page: HTML for people who open the address, JSON for programs. */

const PICTURES = 4

export const frontRoutes = ({ catalog, version, publicUrl }: Parts) =>
  openRoutes().get(
    '/',
    ({ request, set }) => {
      set.headers.vary = 'Accept'
      const facts = frontFacts(version, publicUrl, purchaseFrom(catalog))
      if (prefersHtml(request.headers.get('accept'))) {
        const page = drawFrontPage(facts, shownOf(catalog, PICTURES))
        return new Response(page, { headers: PAGE_HEADERS })
      }
      // Indented, because a request without a browser may well come from a person.
      return new Json<FrontFacts>(`${JSON.stringify(facts, null, 2)}\n`)
    },
    {
      id: 'getFrontPage',
      summary: 'See how to begin',
      description: 'The address, the credentials and a first session: a page for browsers, JSON for others.',
      response: {
        description: 'How to begin',
        schema: FrontFacts,
        example: frontFacts('0.1.0', 'http://127.0.0.1:4747', { productId: 1, denomination: 100, quantity: 2 }),
        alsoAs: { 'text/html': { schema: Type.String(), example: '<!doctype html><title>Scrip sandbox</title>' } },
      },
    },
  )

/** Whether a page is the first that is asked for: what browsers do, and other programs do not. */
const prefersHtml = (accept: string | null): boolean => /^text\/html(?! *; *q=0)/i.test(accept ?? '')
