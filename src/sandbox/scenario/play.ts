import { DomainError } from '../../kernel/failure.ts'
import { jsonIn } from '../../kernel/json.ts'
import type { World } from '../../work/world.ts'
import { scenarioStopped } from '../errors.ts'
import type { Sent } from '../parts.ts'
import { SANDBOX_USERNAME } from '../seed/accounts.ts'
import { findClientIn } from '../worlds/accounts.ts'
import { frontDoorPaths, resolved, type ScenarioStep, SHOWN_MAX, StepFault } from './scenario.ts'

/** Paths that a step must not use: they affect other worlds, replace its own world, or wait until the world exists. */
const REFUSED = /^\/_sandbox\/(?:worlds|snapshots|reset|scenario|feed|webhooks\/settle)(?:\/|$)/

/** Responses that are kept for later steps, in characters. */
const RESPONSES_MAX = 16_777_216

type Send = (sent: Sent) => Promise<Response>

/** Sends the steps of a scenario in order. @throws DomainError scenario_stopped with the step that went wrong */
export const play = async (world: World, steps: readonly ScenarioStep[], send: Send): Promise<void> => {
  const responses = new Map<string, unknown>()
  let room = RESPONSES_MAX
  for (const [index, written] of steps.entries()) {
    let step = written
    try {
      step = resolved(written, responses)
      const text = await responseTo(world, step, send)
      if (step.name === undefined) continue
      room -= text.length
      if (room < 0)
        throw new StepFault(`the responses to named steps are longer than ${RESPONSES_MAX} characters together`)
      const value = jsonIn(text)
      responses.set(step.name, value === undefined ? text : value)
    } catch (error) {
      if (!(error instanceof StepFault)) throw error
      throw new DomainError(scenarioStopped(`${titleOf(index + 1, step)}: ${error.message}`))
    }
  }
}

const titleOf = (number: number, { name, method, path, body }: ScenarioStep): string => {
  const named = name === undefined ? '' : ` (${name})`
  const sent = body === undefined ? '' : ` ${JSON.stringify(body).slice(0, SHOWN_MAX)}`
  return `step ${number}${named}: ${method} ${path}${sent}`
}

/** @throws StepFault if it cannot be sent, or gets another status than expected */
const responseTo = async (world: World, step: ScenarioStep, send: Send): Promise<string> => {
  const { method, path, headers, body, expect } = step
  const client = senderOf(world, step)
  const json = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await send({ method, path, ...(client && { client }), ...(headers && { headers }), ...json })
  const text = await response.text().catch(() => undefined)
  await new Promise(setImmediate) // requests of others come between
  const status = text === undefined ? 0 : response.status
  if (expect === undefined ? status >= 200 && status < 300 : status === expect) return text ?? ''
  const came = text === undefined ? 'no response' : `${status} ${text.slice(0, SHOWN_MAX)}`.trim()
  throw new StepFault(`got ${came}, not ${expect ?? 'a 2xx'}`)
}

/** The client that is logged in for a step; undefined if the step has its own token. @throws StepFault */
const senderOf = (world: World, { as = SANDBOX_USERNAME, path, headers }: ScenarioStep): string | undefined => {
  if (!findClientIn(world, as)) throw new StepFault(`no client is called ${as}`)
  const paths = frontDoorPaths(path)
  if (!paths) throw new StepFault('a step can only use paths below /auth, /api/v1 and /_sandbox')
  const { searchParams } = new URL(`http://localhost${path}`)
  if (paths.some((each) => REFUSED.test(each)) || searchParams.has('world')) {
    throw new StepFault('a step can only act on the world that the scenario is building')
  }
  try {
    return new Headers(headers).has('authorization') ? undefined : as
  } catch {
    throw new StepFault('a header has a name or a value that HTTP does not allow')
  }
}
