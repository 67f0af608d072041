import { type Static, Type } from '@sinclair/typebox'
import { isObject, type JsonObject } from '../../http/json.ts'
import { oneOf } from '../../http/schemas.ts'
import { bodyCheck, Text, writingProblem } from '../../http/validation.ts'
import { DomainError, invalid, type Violation, violated } from '../../kernel/failure.ts'
import type { World } from '../../work/world.ts'
import { unknownProblem } from '../control/strict.ts'
import { scenarioStopped } from '../errors.ts'

/** A scenario: requests that a world begins with (contract C15). */

export const STEPS_MAX = 1_000
/** As long as the body of a request. */
export const SCENARIO_BYTES_MAX = 1_048_576

/** The paths that a step may use. */
const FRONT_DOOR = '^/(?:auth|api/v1|_sandbox)(?:[/?]|$)'
const PATH_PROBLEM = 'must be a path below /auth, /api/v1 or /_sandbox'

/** A path as servers read it, once its dots are resolved, and once its escapes are too; undefined if it is not of the front door. */
export const frontDoorPaths = (path: string): string[] | undefined => {
  const paths = [pathnameOf(path), pathnameOf(decoded(path))]
  return paths.every((each) => new RegExp(FRONT_DOOR).test(each)) ? paths : undefined
}

const pathnameOf = (path: string): string => new URL(`http://localhost${path}`).pathname

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path // of bytes that cannot be text, which no route has
  }
}

const StepSchema = Type.Object(
  {
    name: Type.Optional(
      Text({ pattern: '^[\\w-]{1,64}$', description: 'at most 64 letters, digits, - and _', example: 'order' }),
    ),
    as: Type.Optional(Text({ description: 'The client that sends it; sandbox if left out', example: 'limited' })),
    method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: Text({
      pattern: FRONT_DOOR,
      maxLength: 8_000,
      description: 'a path below /auth, /api/v1 or /_sandbox',
      example: '/api/v1/orders/{{order.id}}/cancel',
    }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String(), { title: 'StepHeaders' })),
    body: Type.Optional(Type.Unknown({ description: 'Sent as JSON' })),
    expect: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 599,
        description: 'The status that it must get; any 2xx if left out, 0 is a lost response',
      }),
    ),
  },
  { title: 'ScenarioStep' },
)

/** `{{name.member}}` in path, headers or body is that member of the response to the step `name`. */
export type ScenarioStep = Static<typeof StepSchema>

export const ScenarioSchema = Type.Object(
  { steps: Type.Array(StepSchema, { maxItems: STEPS_MAX }) },
  {
    title: 'Scenario',
    description:
      'Requests in order. {{name.member}} in path, headers or body is that member of the response to the step of that name; {{{{ stands for {{.',
  },
)

/** A scenario in a response, where no member is null. */
export const MadeScenario = Type.Object(
  { steps: Type.Array(Type.Object(StepSchema.properties, { title: 'MadeStep' })) },
  { title: 'MadeScenario', description: 'A scenario, for PUT /_sandbox/scenario and --scenario' },
)

const checkList = bodyCheck(Type.Object({ steps: Type.Array(Type.Unknown(), { maxItems: STEPS_MAX }) }))
const checkStep = bodyCheck(StepSchema)

/** @throws DomainError validation with everything that is wrong, by the number of its step from 1 */
export const readSteps = (sent: JsonObject, within = ''): ScenarioStep[] => {
  const { steps } = checkList(sent)
  const names = new Set<string>()
  const violations: Violation[] = []
  const read = steps.map((step, index) => {
    const field = `${within}steps.${index + 1}`
    try {
      return readStep(step, names)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const found = error.failure.violations ?? []
      violations.push(...found.map((each) => ({ ...each, field: `${field}${each.field && '.'}${each.field}` })))
      return []
    }
  })
  if (violations.length > 0) throw new DomainError(invalid(violations))
  return read.flat()
}

/** @throws DomainError validation, with an empty field for the step itself */
const readStep = (sent: unknown, names: Set<string>): ScenarioStep => {
  if (!isObject(sent)) throw violated('', 'object', 'must be an object')
  const unwritable = writingProblem(sent)
  if (unwritable !== undefined) throw violated('', 'format', unwritable)
  const unknown = Object.keys(sent).find((name) => !Object.hasOwn(StepSchema.properties, name))
  if (unknown !== undefined) throw violated(unknown, 'enum', unknownProblem('member', StepSchema))
  const step = checkStep(sent)
  if (!frontDoorPaths(step.path)) throw violated('path', 'format', PATH_PROBLEM)
  if (step.name === undefined) return step
  if (names.has(step.name)) throw violated('name', 'enum', 'must not be that of an earlier step')
  names.add(step.name)
  return step
}

/** The responses to earlier steps, by their names. */
type Responses = ReadonlyMap<string, unknown>

/** The reason why a step cannot be sent, or failed. */
export class StepFault extends Error {}

/** The maximum size of a body. */
const INSERTED_MAX = 1_048_576

/** A step with members of earlier responses in the places of its references. @throws StepFault */
export const resolved = (step: ScenarioStep, responses: Responses): ScenarioStep => {
  let room = INSERTED_MAX
  const insert = (reference: string): unknown => {
    const member = memberOf(reference, responses)
    room -= JSON.stringify(member).length
    if (room < 0) throw new StepFault(`the values it refers to are longer than ${INSERTED_MAX} characters in total`)
    return member
  }
  return {
    ...step,
    path: textOf(step.path, insert),
    ...(step.headers && {
      headers: Object.fromEntries(Object.entries(step.headers).map(([name, text]) => [name, textOf(text, insert)])),
    }),
    ...(step.body !== undefined && { body: withMembers(step.body, insert) }),
  }
}

type Insert = (reference: string) => unknown

/** A text that is nothing but a reference keeps the type of the member. */
const withMembers = (value: unknown, insert: Insert): unknown => {
  if (typeof value === 'string') {
    const [, reference] = /^\{\{([^{}]+)\}\}$/.exec(value) ?? []
    return reference === undefined ? textOf(value, insert) : insert(reference)
  }
  if (Array.isArray(value)) return value.map((item) => withMembers(item, insert))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withMembers(member, insert)]))
}

const textOf = (text: string, insert: Insert): string =>
  text.replace(/\{\{\{\{|\{\{([^{}]+)\}\}|\{\{/g, (found, reference: string | undefined) => {
    if (found === '{{{{') return '{{'
    if (reference === undefined) throw new StepFault('{{ needs the name of a step, a member and }}; {{{{ stands for {{')
    const member = insert(reference)
    if (typeof member !== 'object') return String(member)
    throw new StepFault(
      `${found} cannot be used inside a longer string: it is ${JSON.stringify(member).slice(0, SHOWN_MAX)}`,
    )
  })

const memberOf = (reference: string, responses: Responses): unknown => {
  const [name = '', ...members] = reference.trim().split('.')
  if (!responses.has(name)) throw new StepFault(`no earlier step is called ${name}`)
  return members.reduce((value, member) => {
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, member))
      return (value as JsonObject)[member]
    throw new StepFault(`the response to ${name} has no member ${members.join('.')}`)
  }, responses.get(name))
}

export const SCENARIO_STOPPED = scenarioStopped(
  'step 2 (cancelled): POST /api/v1/orders/1/cancel: got 404 {"error":{"name":"NotFoundError","code":"NOT_FOUND","message":"Order not found"}}, not a 2xx',
)

/** A world in which a scenario was played, in a sandbox that knows no other (decision 132). */
interface Staged extends Disposable {
  world: World
}

/** Plays a scenario in a world of this name. @throws DomainError scenario_stopped */
export type Stage = (name: string, steps: readonly ScenarioStep[]) => Promise<Staged>

/** The maximum length of a body in a message. */
export const SHOWN_MAX = 1_000
