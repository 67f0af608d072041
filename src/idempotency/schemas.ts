import { Type } from '@sinclair/typebox'
import { CREATED_HEADERS } from '../http/operation.ts'

export const IdempotencyHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({ minLength: 8, maxLength: 256, description: 'A repeated key gets the stored response for 24 hours' }),
  ),
})
export const REPLAY_HEADERS = Type.Object({
  'Idempotent-Replayed': Type.Optional(Type.Literal('true', { description: 'Set if this is a stored response' })),
})
export const CREATED_ONCE_HEADERS = Type.Object({ ...CREATED_HEADERS.properties, ...REPLAY_HEADERS.properties })
