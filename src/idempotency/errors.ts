import { badRequest } from '../kernel/failure.ts'

export const KEY_MALFORMED = badRequest(
  'idempotency_key_malformed',
  'Idempotency-Key must be 8 to 256 printable characters',
)

export const KEY_REUSED = badRequest('idempotency_key_reused', 'Idempotency-Key was used with a different request')
