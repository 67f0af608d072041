import type { TObject, TSchema } from '@sinclair/typebox'
import type { Failure } from '../kernel/failure.ts'

/** The groups of the documentation, in the order of the specification. */
export const TAGS = [
  'Authentication',
  'Beneficiaries',
  'Products',
  'Categories',
  'Countries',
  'Currencies',
  'Service',
  'Sandbox',
] as const

/** Where an operation's documentation travels: in the `detail` of its route. */
export const OPERATION = 'x-operation'

/**
 * What a route promises, kept beside it: the documentation, the list of documented errors and the tests are all
 * made from this.
 */
export interface Operation {
  /** The name of the operation for generated clients: `createBeneficiary`. */
  id: string
  tag: (typeof TAGS)[number]
  summary: string
  description?: string
  /** Needs no access token. */
  public?: true
  /** Path parameters by name. */
  path?: TObject
  query?: TObject
  headers?: TObject
  body?: { schema: TObject; optional?: true; example: object }
  success: {
    status: 200 | 201 | 204
    description: string
    /** Left out where there is no body. */
    schema?: TSchema
    example?: unknown
    headers?: Record<string, string>
    contentType?: string
  }
  /** Every refusal that is this route's own, by its stable name, with facts that could be real. */
  refusals: Record<string, Failure>
}

/** The route option that carries an operation. */
export const documented = (operation: Operation) => ({
  detail: { operationId: operation.id, [OPERATION]: operation },
})

/** The headers of a paginated answer, for {@link Operation.success}. */
export const PAGE_HEADERS = {
  'X-Page': 'The current page',
  'X-Per-Page': 'Items per page',
  'X-Total-Count': 'All items that match',
  'X-Total-Pages': 'All pages; 0 when nothing matches',
} as const

/** The two further headers of long lists. */
export const LONG_PAGE_HEADERS = {
  ...PAGE_HEADERS,
  'X-Page-Size': 'Items in this page',
  'X-Has-More': 'Whether more pages exist: true or false',
} as const
