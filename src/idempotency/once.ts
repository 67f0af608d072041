import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { type Tx, undoable } from '../db/database.ts'
import { readText } from '../http/body.ts'
import { type ErrorShape, renderFailure, STRUCTURED } from '../http/errors.ts'
import { type JsonObject, parseObject } from '../http/json.ts'
import { jsonResponse } from '../http/responses.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import type { Session } from '../sessions/sessions.ts'
import { type World, worldPart } from '../worlds/world.ts'
import { KEY_MALFORMED, KEY_REUSED } from './errors.ts'
import { clearKeys, findKey, type KeyRecord, placeOf, putKey } from './queries.ts'

/** How long a response is stored for its key (contract C14). */
const STORED_MS = DAY_MS
const KEY = /^[\x20-\x7e]{8,256}$/
/** Failures that the client cannot prevent, or that pass with time, are not stored. */
const STORED_REFUSALS = new Set([400, 404])

/** When expired keys are looked for again: at once while there are many, otherwise a minute later. */
const clearing = worldPart(() => ({ nextMs: 0 }))

/** A write that happens once even if the client sends it twice. */
interface Effect<Input> {
  /** The path that it is posted to, which a key belongs to. */
  route: string
  status: 200 | 201
  /** The shape in which a refusal is stored. */
  errorShape: ErrorShape
  check: (body: JsonObject) => Input
  /** Seals a stored response; it is stored as it is if undefined. */
  atRest?: AtRest
  apply: (tx: Tx, input: Input) => object
}

/** Seals a response for its place; `open` returns undefined if it does not open. */
interface AtRest {
  close: (tx: Tx, json: string, place: string) => string
  open: (tx: Tx, stored: string, place: string) => string | undefined
}

interface JsonResponse {
  status: number
  json: string
  replayed: boolean
}

/**
 * Performs a write and stores its response for the Idempotency-Key, in one transaction (contract C14).
 * Within 24 hours, the same key gets the same response, and nothing else happens.
 * @throws DomainError idempotency_key_malformed, idempotency_key_reused, body_unreadable, or what the effect throws
 */
export const once = async <Input>(request: Request, session: Session, effect: Effect<Input>): Promise<Response> => {
  const key = readKey(request)
  const text = await readText(request)
  const { status, json, replayed } =
    key === undefined ? await perform(session, effect, text) : await performOrReplay(session, effect, text, key)
  const response = jsonResponse(json, { status })
  if (status === 201) response.headers.set('Location', `${effect.route}/${idIn(json)}`)
  if (replayed) response.headers.set('Idempotent-Replayed', 'true')
  return response
}

const idIn = (json: string): string => (JSON.parse(json) as { id: string }).id

const readKey = (request: Request): string | undefined => {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  if (!KEY.test(key)) throw new DomainError(KEY_MALFORMED)
  return key
}

const perform = async <Input>({ write }: Session, effect: Effect<Input>, text: string): Promise<JsonResponse> => {
  const input = effect.check(parseObject(text))
  const body = await write((tx) => effect.apply(tx, input))
  return { status: effect.status, json: JSON.stringify(body), replayed: false }
}

const performOrReplay = async <Input>(
  { world, client, write }: Session,
  effect: Effect<Input>,
  text: string,
  key: string,
): Promise<JsonResponse> => {
  const parse = parsedOnce(text)
  const requestSha256 = digestOf(`POST ${effect.route} ${canonical(parse) ?? text}`)
  const result = await write((tx) => {
    const nowMs = world.clock.nowMs()
    clearExpired(tx, world, nowMs)
    const stored = findKey(tx, client.id, key)
    if (stored && stored.createdAtMs > nowMs - STORED_MS) {
      if (stored.requestSha256 !== requestSha256) throw new DomainError(KEY_REUSED)
      return { response: { status: stored.status, json: storedJson(tx, effect, stored), replayed: true } }
    }
    const fresh = attempt(tx, effect, parse)
    if (fresh.response) {
      const { status, json } = fresh.response
      const body = effect.atRest?.close(tx, json, placeOf({ clientId: client.id, key })) ?? json
      putKey(tx, { clientId: client.id, key, requestSha256, status, body, createdAtMs: nowMs })
    }
    return fresh
  })
  if ('error' in result) throw result.error
  return result.response
}

/** A clock that was put back does not leave the next time far ahead. */
const clearExpired = (tx: Tx, world: World, nowMs: number): void => {
  const state = world.of(clearing)
  const isDue = nowMs >= state.nextMs || nowMs < state.nextMs - MINUTE_MS
  if (isDue && !clearKeys(tx, nowMs - STORED_MS)) state.nextMs = nowMs + MINUTE_MS
}

const storedJson = (tx: Tx, { atRest }: Pick<Effect<unknown>, 'atRest'>, stored: KeyRecord): string => {
  if (!atRest) return stored.body
  const json = atRest.open(tx, stored.body, placeOf(stored))
  if (json === undefined) throw new Error('the response that is stored for an Idempotency-Key cannot be opened')
  return json
}

type Result = { response: JsonResponse } | { response?: JsonResponse; error: DomainError }

/** In a savepoint: a refused effect leaves nothing, but its key is stored. */
const attempt = <Input>(tx: Tx, effect: Effect<Input>, parse: () => JsonObject): Result => {
  try {
    const body = undoable(tx, () => effect.apply(tx, effect.check(parse())))
    return { response: { status: effect.status, json: JSON.stringify(body), replayed: false } }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const { status, body } = renderFailure(error.failure, { ...STRUCTURED, errorShape: effect.errorShape })
    if (!STORED_REFUSALS.has(status)) return { error }
    return { error, response: { status, json: JSON.stringify(body), replayed: false } }
  }
}

/** A key also stands for a body that is refused: the refusal is thrown later. */
const parsedOnce = (text: string): (() => JsonObject) => {
  try {
    const body = parseObject(text)
    return () => body
  } catch (refusal) {
    return () => {
      throw refusal
    }
  }
}

/** The same text for bodies that are equal as JSON; undefined for a body that is no JSON object. */
const canonical = (parse: () => JsonObject): string | undefined => {
  try {
    return canonicalize(parse())
  } catch {
    return undefined
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
