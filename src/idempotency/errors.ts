import type { Failure } from '../kernel/failure.ts'

export const KEY_MALFORMED: Failure = {
  code: 'idempotency_key_malformed',
  kind: 'BAD_REQUEST',
  message: 'Idempotency-Key must be 8 to 256 printable characters',
}

export const KEY_REUSED: Failure = {
  code: 'idempotency_key_reused',
  kind: 'BAD_REQUEST',
  message: 'Idempotency-Key was used with a different request',
}
