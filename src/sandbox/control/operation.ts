import { BODY_UNREADABLE } from '../../http/failures.ts'
import { operationsOf } from '../../http/operation.ts'
import { type Failure, invalid, type Violation } from '../../kernel/failure.ts'
import { FOREIGN_SITE, TOKEN_WRONG, worldNotFound } from '../errors.ts'

/** What the operations of the control API have in common (contract C15). */

export const controlOperation = operationsOf({
  tag: 'Sandbox',
  tagDescription: 'What only the sandbox has: worlds and their clocks. Open on this machine, elsewhere by token.',
  errorShape: 'structured',
  public: true,
  closed: true,
})

/** The errors of the gate, named after a group of operations. */
export const gateErrors = (group: string): Record<string, Failure> => ({
  [`${group}.token_wrong`]: TOKEN_WRONG,
  [`${group}.foreign`]: FOREIGN_SITE,
})

/** The errors of an operation on a world. */
export const worldErrors = (group: string): Record<string, Failure> => ({
  [`${group}.world_not_found`]: worldNotFound('nowhere'),
  ...gateErrors(group),
})

/** The errors of an operation on a world that takes a body. */
export const bodyErrors = (group: string, violation: Violation): Record<string, Failure> => ({
  ...worldErrors(group),
  [`${group}.body_unreadable`]: BODY_UNREADABLE,
  [`${group}.validation`]: invalid([violation]),
})

export const tooShort = (field: string): Violation => ({
  field,
  rule: 'min',
  problem: 'must be at least 1 character long',
})
