import type { TObject } from '@sinclair/typebox'
import type { LegacyFailure } from '../kernel/failure.ts'
import { DomainError, type Failure } from '../kernel/failure.ts'
import { OPERATION, type Operation } from './operation.ts'

export interface LegacyOperation
  extends Omit<Operation, 'errors' | 'params' | 'body' | 'bodyOptional' | 'bodyExample' | 'errorShape' | 'breakdown'> {
  path?: TObject
  body?: { schema: TObject; optional?: true; example: object }
  fast?: true
  refusals: Record<string, Failure | LegacyFailure>
}

export const documented = ({ path, body, refusals, fast: _, ...operation }: LegacyOperation) => ({
  detail: {
    operationId: operation.id,
    [OPERATION]: {
      ...operation,
      ...(path && { params: path }),
      ...(body && {
        body: body.schema,
        bodyExample: body.example,
        ...(body.optional && { bodyOptional: true }),
      }),
      errors: Object.fromEntries(
        Object.entries(refusals).map(([name, failure]) => [name, new DomainError(failure).failure]),
      ),
    },
  },
})
