import { type TObject, Type } from '@sinclair/typebox'
import type { Additions } from '../docs/openapi.ts'
import type { ServedOperation } from '../http/operation.ts'
import { type Failure, violation } from '../kernel/failure.ts'
import { CONSOLE_PATH } from './console/routes.ts'
import { isExempt, isProbe } from './control/access.ts'
import { unknownProblem } from './control/strict.ts'
import { FAULT_REQUEST } from './faults/faults.ts'
import { SANDBOX_USERNAME } from './seed/accounts.ts'
import { worldsPicture } from './worlds/picture.ts'

const TokenHeader = Type.Object({
  'X-Sandbox-Token': Type.Optional(
    Type.String({
      description: 'The token of `--sandbox-token`, where the sandbox was started with one',
      example: 'secret',
    }),
  ),
})

/** The header that the control API requires, and the one that injects a fault. */
const headersOf = ({ route, operation }: ServedOperation): TObject | undefined => {
  const needsToken = Object.keys(operation.refuses).some((name) => name.endsWith('.token_wrong'))
  if (needsToken) return TokenHeader
  return isExempt(route) ? undefined : FAULT_REQUEST.headers
}

/** With `--strict`, probes also refuse undocumented parameters; they have no other error (decision 138). */
const STRICTLY = { parameter_unknown: violation('pretty', 'enum', unknownProblem('parameter')) }

const errorsOf = ({ route }: ServedOperation): Record<string, Failure> => {
  if (isProbe(route)) return STRICTLY
  return isExempt(route) ? {} : FAULT_REQUEST.errors
}

/** The additions of a sandbox to the documentation of live mode. */
export const DOCUMENTATION: Additions = {
  introduction: `In the sandbox the username \`${SANDBOX_USERNAME}\` with the password \`${SANDBOX_USERNAME}\` always works; any username \`sbx_<name>\` creates its own world.`,
  console: CONSOLE_PATH,
  pictures: { worlds: { heading: 'Worlds', drawn: worldsPicture('A world beside another', ['a', 'b']) } },
  headersOf,
  errorsOf,
  operations: {
    login: {
      description:
        'In the sandbox the client `sandbox` with the password `sandbox` always exists. A username `sbx_<name>` creates a world of that name: a fresh copy of the sample data that no other world can touch.',
      bodyExample: { username: SANDBOX_USERNAME, password: SANDBOX_USERNAME },
    },
  },
}
