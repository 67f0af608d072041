import type { Failure, FailureCode, Violation } from '../kernel/failure.ts'

/**
 * The one place that says how a failure leaves (spec section 7, contract C4): its status, its code, its words, and
 * the shape of the body, which depends on the route.
 */

/** Structured (spec 7, shape 1), flat (shape 2), or charges (shape 3). */
export type ErrorShape = 'structured' | 'flat' | 'charges'

/** Each kind of error: its status, and the names it goes by in the structured and in the flat shape. */
const KINDS = {
  BAD_REQUEST: { status: 400, name: 'BadRequestError', flatName: 'BadRequest' },
  VALIDATION_FAILURE: { status: 400, name: 'ValidationException', flatName: 'ValidationException' },
  UNAUTHORIZED: { status: 401, name: 'UnauthorizedError', flatName: 'Unauthorized' },
  FORBIDDEN: { status: 403, name: 'ForbiddenError', flatName: 'Forbidden' },
  NOT_FOUND: { status: 404, name: 'NotFoundError', flatName: 'NotFound' },
  TOO_MANY_REQUESTS: { status: 429, name: 'TooManyRequestsError', flatName: 'TooManyRequests' },
  SERVICE_UNAVAILABLE: { status: 503, name: 'ServiceUnavailableError', flatName: 'ServiceUnavailable' },
  INTERNAL_SERVER_ERROR: { status: 500, name: 'InternalServerError', flatName: 'InternalServerError' },
} as const

type Kind = keyof typeof KINDS

interface Meaning {
  kind: Kind
  message: string
  violations?: readonly Violation[]
  /** 401, 403, 429, 503 and unknown routes look alike everywhere. */
  alwaysStructured?: true
  headers?: Record<string, string>
}

const RESOURCE_NAMES = {
  product: 'Product',
  category: 'Category',
  subcategory: 'Subcategory',
  country: 'Country',
  currency: 'Currency',
  wallet: 'Wallet',
  transaction: 'Transaction',
  order: 'Order',
  payout: 'Payout',
  beneficiary: 'Beneficiary',
} as const

const INVALID_BODY = 'Invalid request body'

/** One meaning for each failure; a failure without one does not build. */
const MEANINGS: { [Code in FailureCode]: (failure: Extract<Failure, { code: Code }>) => Meaning } = {
  unauthorized: ({ tokenSent }) => ({
    kind: 'UNAUTHORIZED',
    message: 'Invalid or expired access token',
    alwaysStructured: true,
    headers: { 'WWW-Authenticate': tokenSent ? 'Bearer error="invalid_token"' : 'Bearer' },
  }),
  rate_limited: ({ retryAfterSeconds }) => ({
    kind: 'TOO_MANY_REQUESTS',
    message: `Rate limit exceeded. Retry after ${retryAfterSeconds} seconds.`,
    alwaysStructured: true,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }),
  feature_disabled: () => ({
    kind: 'FORBIDDEN',
    message: 'The requested feature is not enabled for this client',
    alwaysStructured: true,
  }),
  route_not_found: () => ({ kind: 'NOT_FOUND', message: 'Route not found', alwaysStructured: true }),
  invalid_id: ({ resource }) => ({
    kind: 'BAD_REQUEST',
    message: `Invalid ${RESOURCE_NAMES[resource].toLowerCase()} ID`,
  }),
  not_found: ({ resource }) => ({ kind: 'NOT_FOUND', message: `${RESOURCE_NAMES[resource]} not found` }),
  host_invalid: () => ({ kind: 'BAD_REQUEST', message: 'Invalid Host header', alwaysStructured: true }),
  body_unreadable: () => ({ kind: 'BAD_REQUEST', message: INVALID_BODY }),
  validation: ({ violations }) => ({ kind: 'VALIDATION_FAILURE', message: 'Input validation failed.', violations }),
  credentials_missing: ({ violations }) => ({
    kind: 'VALIDATION_FAILURE',
    message: 'Username and password are required',
    violations,
  }),
  credentials_wrong: () => ({
    kind: 'UNAUTHORIZED',
    message: 'Invalid credentials',
    headers: { 'WWW-Authenticate': 'Bearer' },
  }),
  refresh_token_missing: () => ({
    kind: 'VALIDATION_FAILURE',
    message: 'Refresh token is required',
    violations: [{ field: 'refresh_token', rule: 'required', problem: 'is required' }],
  }),
  refresh_token_wrong: () => ({
    kind: 'UNAUTHORIZED',
    message: 'Invalid refresh token',
    headers: { 'WWW-Authenticate': 'Bearer' },
  }),
  denomination_not_offered: () => ({ kind: 'NOT_FOUND', message: 'Denomination not found' }),
  quantity_exceeded: ({ quantityMax }) => ({
    kind: 'BAD_REQUEST',
    message: `Quantity exceeds maximum allowed quantity of ${quantityMax}`,
  }),
  paying_wallet_not_found: () => ({ kind: 'BAD_REQUEST', message: 'Wallet not found' }),
  rate_missing: ({ from, to }) => ({ kind: 'BAD_REQUEST', message: `No exchange rate found for ${from} to ${to}` }),
  rate_failed: () => ({ kind: 'INTERNAL_SERVER_ERROR', message: 'Failed to fetch exchange rate' }),
  insufficient_balance: () => ({ kind: 'BAD_REQUEST', message: 'Insufficient wallet balance' }),
  insufficient_stock: () => ({ kind: 'BAD_REQUEST', message: 'Insufficient stock' }),
  duplicate_order_reference: () => ({ kind: 'BAD_REQUEST', message: 'Duplicate client_reference' }),
  duplicate_payout_reference: () => ({ kind: 'BAD_REQUEST', message: 'Duplicate reference_id' }),
  saved_beneficiary_not_found: () => ({ kind: 'BAD_REQUEST', message: 'Beneficiary not found' }),
  order_not_cancellable: ({ status }) => ({
    kind: 'BAD_REQUEST',
    message: `Order cannot be cancelled in status ${status}`,
  }),
  payout_not_cancellable: ({ status }) => ({
    kind: 'BAD_REQUEST',
    message: `Payout cannot be cancelled in status ${status}`,
  }),
  transition_refused: ({ from, to }) => ({ kind: 'BAD_REQUEST', message: `Cannot go from ${from} to ${to}` }),
  amount_too_large: () => ({
    kind: 'VALIDATION_FAILURE',
    message: 'Input validation failed.',
    violations: [{ field: 'amount', rule: 'max', problem: 'too large', message: 'amount too large' }],
  }),
  amount_too_small: () => ({
    kind: 'VALIDATION_FAILURE',
    message: 'Input validation failed.',
    violations: [{ field: 'amount', rule: 'min', problem: 'too small', message: 'amount too small' }],
  }),
  idempotency_key_malformed: () => ({
    kind: 'BAD_REQUEST',
    message: 'Idempotency-Key must be 8 to 256 printable characters',
  }),
  idempotency_key_reused: () => ({
    kind: 'BAD_REQUEST',
    message: 'Idempotency-Key was used with a different request',
  }),
  worlds_exhausted: ({ worldsMax }) => ({
    kind: 'TOO_MANY_REQUESTS',
    message: `This sandbox holds ${worldsMax} worlds already. Drop one first.`,
    alwaysStructured: true,
  }),
  world_too_large: ({ bytesMax }) => ({
    kind: 'BAD_REQUEST',
    message: `A world of more than ${bytesMax / 1_048_576} MiB can be neither kept nor copied`,
  }),
  snapshots_exhausted: ({ snapshotsMax }) => ({
    kind: 'TOO_MANY_REQUESTS',
    message: `This sandbox holds ${snapshotsMax} snapshots already. Delete one first.`,
  }),
  snapshot_not_found: ({ name }) => ({ kind: 'NOT_FOUND', message: `No snapshot is called ${name}` }),
  request_not_found: () => ({ kind: 'NOT_FOUND', message: 'Request not found' }),
  default_world_kept: () => ({ kind: 'BAD_REQUEST', message: 'The default world can be reset, not dropped' }),
  world_not_found: ({ name }) => ({ kind: 'NOT_FOUND', message: `No world is called ${name}` }),
  sandbox_token_wrong: () => ({
    kind: 'UNAUTHORIZED',
    message: 'The sandbox needs the header X-Sandbox-Token with the token of --sandbox-token',
  }),
  sandbox_foreign: () => ({ kind: 'FORBIDDEN', message: 'The sandbox is not open to other sites' }),
  unavailable: ({ retryAfterSeconds }) => ({
    kind: 'SERVICE_UNAVAILABLE',
    message: 'Try again later.',
    alwaysStructured: true,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  }),
  connection_dropped: () => ({ kind: 'INTERNAL_SERVER_ERROR', message: 'Connection dropped' }),
  internal: () => ({ kind: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' }),
}

const meaningOf = (failure: Failure): Meaning => (MEANINGS[failure.code] as (failure: Failure) => Meaning)(failure)

/** An error as it leaves: status, headers and body. */
export interface RenderedError {
  status: number
  headers: Record<string, string>
  body: { error: unknown; message?: string }
}

/** Renders a failure for the route that met it. */
export const renderFailure = (failure: Failure, edge: RouteEdge): RenderedError => {
  const meaning = failure.code === 'internal' ? { ...meaningOf(failure), message: edge.breakdown } : meaningOf(failure)
  const shape = meaning.alwaysStructured ? 'structured' : edge.shape
  return { status: KINDS[meaning.kind].status, headers: meaning.headers ?? {}, body: RENDERERS[shape](meaning) }
}

const RENDERERS: Record<ErrorShape, (meaning: Meaning) => RenderedError['body']> = {
  structured: ({ kind, message, violations }) => ({
    error: {
      name: KINDS[kind].name,
      code: kind,
      message,
      ...(violations && { messages: messagesByField(violations) }),
    },
  }),
  flat: ({ kind, message, violations }) => ({
    error: KINDS[kind].flatName,
    message: violations ? violations.map(flatSentence).join('; ') : message,
  }),
  charges: ({ message, violations }) => ({
    error: violations ? { message: 'Validation failed', details: violations.map(plainSentence).join('; ') } : message,
  }),
}

const messagesByField = (violations: readonly Violation[]): Record<string, object[]> => {
  // Named by clients: `constructor` is a field like any other.
  const messages: Record<string, object[]> = Object.create(null)
  for (const { field, rule, problem, message = `The ${field} field ${problem}.` } of violations) {
    messages[field] ??= []
    messages[field].push({ rule, field, message })
  }
  return messages
}

const plainSentence = ({ field, problem }: Violation): string => `${field} ${problem}`

/** The specification's own words for an e-mail address (spec 4.1, rule 2). */
const flatSentence = (violation: Violation): string =>
  violation.rule === 'email' ? `Invalid ${violation.field} format` : plainSentence(violation)

/** How errors leave a route: in which shape, and what is said when the program itself breaks down. */
export interface RouteEdge {
  shape: ErrorShape
  breakdown: string
}

/** Outside of /api/v1, and wherever no route is known. */
export const STRUCTURED: RouteEdge = { shape: 'structured', breakdown: 'Internal server error' }

/** First path segments below /api/v1, and what one record of each is called. */
const RECORDS = new Map([
  ['products', 'product'],
  ['categories', 'category'],
  ['subcategories', 'subcategory'],
  ['countries', 'country'],
  ['currencies', 'currency'],
  ['beneficiaries', 'beneficiary'],
  ['wallets', 'wallet'],
  ['transactions', 'transaction'],
  ['orders', 'order'],
  ['payouts', 'payout'],
])

const FLAT = new Set(['beneficiaries', 'payouts'])
/** What follows an id in a path, and what it does. */
const ACTIONS = new Map([
  ['availability', 'check availability'],
  ['charges', 'calculate charges'],
  ['discount', 'calculate discount'],
  ['vouchers', 'retrieve vouchers'],
])
const CHARGES = new Set(['charges', 'discount'])

/** The route table: which shape a path's errors leave in, and how a breakdown is worded (contract C4). */
export const edgeOf = (method: string, path: string): RouteEdge => {
  if (!path.startsWith('/api/v1/')) return STRUCTURED
  const [collection = '', id = '', action = ''] = path.split('/').slice(3)
  const record = RECORDS.get(collection)
  if (record === undefined) return STRUCTURED
  const shape = FLAT.has(collection) ? 'flat' : CHARGES.has(action) ? 'charges' : 'structured'
  return { shape, breakdown: `Failed to ${ACTIONS.get(action) ?? doing(method, collection, record, id, action)}` }
}

const doing = (method: string, records: string, record: string, id: string, action: string): string => {
  if (action === 'cancel') return `cancel ${record}`
  if (method === 'POST') return `create ${record}`
  if (method === 'DELETE') return `delete ${record}`
  return `retrieve ${id === '' ? records : record}`
}
