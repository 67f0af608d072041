import { type TObject, Type } from '@sinclair/typebox'
import type { Operation } from '../../http/operation.ts'

/** Asks for an error in one request, and for a slow response. */
export const FAULT_HEADER = 'X-Sandbox-Fault'
export const DELAY_HEADER = 'X-Sandbox-Delay'

const FaultHeaders = Type.Object({
  [FAULT_HEADER]: Type.Optional(
    Type.String({
      description: 'The name of an error of this operation, which is answered instead: see GET /_sandbox/errors',
    }),
  ),
})

/** The headers by which the documentation lets readers ask for a fault. */
export const faultHeadersOf = ({ tag, isProbe }: Operation): TObject | undefined =>
  tag === 'Sandbox' || isProbe ? undefined : FaultHeaders
