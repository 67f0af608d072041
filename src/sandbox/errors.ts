import { badRequest, type Failure } from '../kernel/failure.ts'

/** The failures of the sandbox (contract C15), sent in the structured shape. */

export const TOKEN_WRONG: Failure = {
  code: 'sandbox_token_wrong',
  kind: 'UNAUTHORIZED',
  message: 'The sandbox needs the header X-Sandbox-Token with the token of --sandbox-token',
}

export const FOREIGN_SITE: Failure = {
  code: 'sandbox_foreign',
  kind: 'FORBIDDEN',
  message: 'The sandbox is not open to other sites',
}

const missing = (code: Failure['code'], message: string): Failure => ({ code, kind: 'NOT_FOUND', message })

export const worldNotFound = (name: string): Failure => missing('world_not_found', `No world is called ${name}`)

export const worldDamaged = (name: string): Failure =>
  badRequest('world_damaged', `The file of the world ${name} is damaged. Put it back, or delete the world.`)

export const snapshotDamaged = (name: string): Failure =>
  badRequest('snapshot_damaged', `The file of the snapshot ${name} is damaged. Put it back, or delete the snapshot.`)

export const snapshotNotFound = (name: string): Failure =>
  missing('snapshot_not_found', `No snapshot is called ${name}`)

export const FAULT_NOT_FOUND = missing('fault_not_found', 'Fault not found')

export const REQUEST_NOT_FOUND = missing('request_not_found', 'Request not found')

export const DEFAULT_WORLD_KEPT = badRequest('default_world_kept', 'The default world can be reset, not dropped')

export const snapshotTooLarge = (bytesMax: number): Failure =>
  badRequest('snapshot_too_large', `A snapshot of more than ${bytesMax / 1_048_576} MiB cannot be downloaded`)

/** The failed step of a scenario: its number, its request and the response. */
export const scenarioStopped = (message: string): Failure => badRequest('scenario_stopped', message)

/** Names the part of a log that cannot be a step of a scenario. */
export const unrepeatable = (message: string): Failure => badRequest('unrepeatable', message)

/** Waiting does not help until somebody makes room: a client retries once a minute. */
const NO_ROOM = { kind: 'TOO_MANY_REQUESTS', headers: { 'Retry-After': '60' } } as const

export const worldsExhausted = (worldsMax: number): Failure => ({
  code: 'worlds_exhausted',
  ...NO_ROOM,
  message: `This sandbox already has ${worldsMax} worlds. Drop one first.`,
  isUniform: true,
})

export const snapshotsExhausted = (snapshotsMax: number): Failure => ({
  code: 'snapshots_exhausted',
  ...NO_ROOM,
  message: `This sandbox already has ${snapshotsMax} snapshots. Delete one first.`,
})

/** A fault that closes the connection instead of sending a response. */
export const CONNECTION_DROPPED: Failure = {
  code: 'connection_dropped',
  kind: 'INTERNAL_SERVER_ERROR',
  message: 'Connection dropped',
}

export const GATEWAY = 'gateway'

/** The response of a gateway in place of the server behind it. */
const GATEWAY_PAGES = {
  502: { message: 'Bad Gateway' },
  503: { message: 'Service Unavailable', headers: { 'Retry-After': '1' } },
  504: { message: 'Gateway Timeout' },
}
export type GatewayStatus = keyof typeof GATEWAY_PAGES

export const gatewayFailure = (status: GatewayStatus): Failure => ({
  code: GATEWAY,
  kind: 'SERVICE_UNAVAILABLE',
  status,
  ...GATEWAY_PAGES[status],
})
