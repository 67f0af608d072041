import { type TObject, Type } from '@sinclair/typebox'
import type { Additions } from '../docs/openapi.ts'
import type { Operation } from '../http/operation.ts'
import { faultHeadersOf } from './faults/faults.ts'
import { SANDBOX_USERNAME } from './seed/accounts.ts'

const TokenHeader = Type.Object({
  'X-Sandbox-Token': Type.Optional(
    Type.String({ description: 'The token of `--sandbox-token`, where the sandbox was started with one' }),
  ),
})

/** What asks for a fault, and what the gate of the control API asks for. */
const headersOf = (operation: Operation): TObject | undefined => {
  const isBehindGate = Object.keys(operation.errors).some((name) => name.endsWith('.token_wrong'))
  return isBehindGate ? TokenHeader : faultHeadersOf(operation)
}

/** What the documentation of a sandbox says beyond that of live mode. */
export const DOCUMENTATION: Additions = {
  introduction: `In the sandbox the username \`${SANDBOX_USERNAME}\` with the password \`${SANDBOX_USERNAME}\` always works; any username \`sbx_<name>\` makes a world of its own.`,
  username: SANDBOX_USERNAME,
  headersOf,
  operations: {
    login: {
      description:
        'In the sandbox the client `sandbox` with the password `sandbox` always exists. A username `sbx_<name>` makes a world of that name on the spot: a fresh copy of the seeded state that no other world can touch.',
      bodyExample: { username: SANDBOX_USERNAME, password: SANDBOX_USERNAME },
    },
  },
}
