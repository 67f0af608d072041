import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Failure } from '../kernel/failure.ts'

/** The groups of the documentation, in the order of the specification, and what each is about. */
export const TAGS = {
  Authentication: 'Credentials become tokens, tokens are renewed and revoked.',
  Beneficiaries: 'People who are paid, saved to be paid again.',
  Products: 'Gift cards on sale: what there is, whether it can be had, and what it costs.',
  Categories: 'What products are sorted by. For accounts with the vouchers feature.',
  Countries: 'The countries of ISO 3166-1.',
  Currencies: 'The circulating currencies of ISO 4217.',
  Wallets: 'What a client pays from, and every movement of it.',
  Orders: 'Gift cards bought, and the vouchers that are delivered. For accounts with the vouchers feature.',
  Payouts: 'Money sent to beneficiaries.',
  Service: 'Whether the service is well.',
  Sandbox: 'What only the sandbox has: worlds and their clocks. Open on this machine, elsewhere by token.',
} as const

/** Where an operation's documentation travels: in the `detail` of its route. */
export const OPERATION = 'x-operation'

interface Success {
  status: 200 | 201 | 204
  description: string
  /** Left out where there is no body. */
  schema?: TSchema
  example?: unknown
  /** What the answer carries besides X-Request-Id and the headers of the limit. */
  headers?: TObject
  contentType?: string
  /** The same in other content types, for who asks for them by Accept. */
  alsoAs?: Record<string, { schema: TSchema; example: unknown }>
}

/**
 * What a route promises, kept beside it: the documentation, the list of documented errors and the tests are all
 * made from this.
 */
export interface Operation {
  /** The name of the operation for generated clients: `createBeneficiary`. */
  id: string
  tag: keyof typeof TAGS
  summary: string
  description: string
  /** Needs no access token. */
  public?: true
  /** Takes no token of the buckets, so that it is never refused by the limits. */
  free?: true
  /** Path parameters by name. */
  path?: TObject
  query?: TObject
  headers?: TObject
  body?: { schema: TObject; optional?: true; example: object }
  success: Success
  /** Its answer is a {@link Prepared} one: it has an entity tag, and is compressed for who asks for it. */
  prepared?: true
  /** Asked so often that the framework is left out: see {@link fastPath}. It needs no feature. */
  fast?: true
  /** What else it answers that is no refusal: not being ready is what one asks a probe for. */
  alternative?: Omit<Success, 'status'> & { status: number }
  /** Every refusal that is this route's own, by its stable name, with facts that could be real. */
  refusals: Record<string, Failure>
}

/** The route option that carries an operation. */
export const documented = (operation: Operation) => ({
  detail: { operationId: operation.id, [OPERATION]: operation },
})

/** The header of an answer that has made a record, for {@link Operation.success}. */
export const CREATED_HEADERS = Type.Object({
  Location: Type.String({ description: 'The path of the new record' }),
})

/** The headers of a paginated answer, for {@link Operation.success}. */
export const PAGE_HEADERS = Type.Object({
  'X-Page': Type.Integer({ minimum: 1, description: 'The current page' }),
  'X-Per-Page': Type.Integer({ minimum: 1, description: 'Items per page' }),
  'X-Total-Count': Type.Integer({ minimum: 0, description: 'All items that match' }),
  'X-Total-Pages': Type.Integer({ minimum: 0, description: 'All pages; 0 when nothing matches' }),
})

/** The two further headers of long lists. */
export const LONG_PAGE_HEADERS = Type.Object({
  ...PAGE_HEADERS.properties,
  'X-Page-Size': Type.Integer({ minimum: 0, description: 'Items in this page' }),
  'X-Has-More': Type.Boolean({ description: 'Whether more pages exist' }),
})
