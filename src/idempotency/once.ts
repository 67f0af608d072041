import canonicalize from 'canonicalize'
import type { Query, Tx } from '../db/database.ts'
import { renderFailure } from '../http/errors.ts'
import { KEY_MALFORMED, KEY_REUSED } from '../http/failures.ts'
import type { Incoming } from '../http/incoming.ts'
import { type Exact, Json, type JsonObject, parseObject } from '../http/json.ts'
import type { DeferredBody } from '../http/route-lines.ts'
import { documentedRoute } from '../http/target.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import { sha256Of } from '../kernel/sha256.ts'
import type { Session } from '../sessions/sessions.ts'
import { type World, worldPart } from '../work/world.ts'
import { associatedDataOf, clearKeys, findKey, type KeyRecord, putKey } from './queries.ts'

/** A response is stored for its key for this long (contract C14). */
const STORED_MS = DAY_MS
const KEY = /^[\x20-\x7e]{8,256}$/

/** Failures that the client cannot prevent, or that pass with time, are not stored. */
const STORED_REFUSALS = new Set([400, 404])

/** The time of the next look for expired keys: at once while there are many, otherwise a minute later. */
const clearing = worldPart(() => ({ nextMs: 0 }))

/** Encrypts a response that holds a secret or voucher codes, as they are encrypted themselves (contract C14). */
type AtRest = (query: Query) => {
  encrypt: (json: string, associatedData: string) => Buffer
  /** Undefined if the key or the associated data is another one. */
  decrypt: (stored: Uint8Array, associatedData: string) => string | undefined
}

/** A write, and the form in which its response is stored: unchanged if `atRest` is undefined. */
interface Effect<Input, Output> {
  /** The path of the request. A key belongs to one path. */
  path: string
  deferred: DeferredBody<Input, Output>
  apply: (tx: Tx, input: Input) => Output
  atRest: AtRest | undefined
}

/** The request of a write that happens once. */
type Write<Input, Output> = Incoming & { session: Session; body: DeferredBody<Input, Output> }

interface WriteResponse {
  status: number
  text: string
  /** The id of the record that was made. */
  id?: string | undefined
  isReplayed?: true
  /** The failure that is thrown once it is stored. */
  refusal?: DomainError
}

/**
 * Performs a write and stores its response for the Idempotency-Key, in one transaction (contract C14).
 * Within 24 hours, the same key gets the same response, and nothing else happens.
 * @throws DomainError idempotency_key_malformed, idempotency_key_reused, body_unreadable, or an error of reading and applying
 */
export const once = async <Input, Output, Given extends Output>(
  { request, path: sentTo, set, session, body: deferred }: Write<Input, Output>,
  apply: (tx: Tx, input: NoInfer<Input>) => Exact<Given, Output>,
  atRest?: AtRest,
): Promise<Json<Output>> => {
  const key = readKey(request)
  const path = documentedRoute(sentTo)
  const effect = { path, deferred, apply, atRest }
  const { status, text, id, isReplayed, refusal } =
    key === undefined ? await perform(session, effect) : await performOrReplay(session, effect, key)
  if (refusal) throw refusal
  if (status === 201) set.headers.Location = `${path}/${id ?? idIn(text)}`
  if (isReplayed) set.headers['Idempotent-Replayed'] = 'true'
  return new Json(text, status)
}

const idIn = (json: string): string => (JSON.parse(json) as { id: string }).id

const readKey = (request: Request): string | undefined => {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  if (!KEY.test(key)) throw new DomainError(KEY_MALFORMED)
  return key
}

const responseOf = <Output>({ operation }: DeferredBody<unknown, Output>, output: Output): WriteResponse => ({
  status: operation.response.status,
  text: JSON.stringify(output),
  id: (output as { id?: string } | undefined)?.id,
})

const perform = async <Input, Output>(
  { write }: Session,
  { deferred, apply }: Effect<Input, Output>,
): Promise<WriteResponse> => {
  const reading = deferred.read(parseObject(deferred.text))
  const input = reading instanceof Promise ? await reading : reading
  return write((tx) => responseOf(deferred, apply(tx, input)))
}

const performOrReplay = async <Input, Output>(
  { world, client, write }: Session,
  effect: Effect<Input, Output>,
  key: string,
): Promise<WriteResponse> => {
  const {
    path,
    deferred: { text: sent },
  } = effect
  const parse = parsedOnce(sent)
  // Before the transaction, because the address of a webhook is looked up. A replay needs none of it.
  const input = await readOnce(effect.deferred, parse)
  const requestSha256 = sha256Of(`POST ${path} ${canonical(parse) ?? sent}`)
  return write((tx) => {
    const nowMs = world.clock.nowMs()
    clearExpired(tx, world, nowMs)
    const stored = findKey(tx, client.id, key)
    if (stored && stored.createdAtMs > nowMs - STORED_MS) {
      if (stored.requestSha256 !== requestSha256) throw new DomainError(KEY_REUSED)
      return { status: stored.status, text: storedText(tx, effect, stored), isReplayed: true }
    }
    const response = attempt(tx, world, effect, input)
    const { status, text } = response
    const associatedData = associatedDataOf({ clientId: client.id, key })
    const body = effect.atRest ? effect.atRest(tx).encrypt(text, associatedData).toString('base64') : text
    putKey(tx, { clientId: client.id, key, requestSha256, status, body, createdAtMs: nowMs })
    return response
  })
}

/** A clock that was put back does not leave the next time far ahead. */
const clearExpired = (tx: Tx, world: World, nowMs: number): void => {
  const state = world.of(clearing)
  const isDue = nowMs >= state.nextMs || nowMs < state.nextMs - MINUTE_MS
  if (isDue && !clearKeys(tx, nowMs - STORED_MS)) state.nextMs = nowMs + MINUTE_MS
}

const storedText = <Input, Output>(tx: Tx, { atRest }: Effect<Input, Output>, stored: KeyRecord): string => {
  if (!atRest) return stored.body
  const text = atRest(tx).decrypt(Buffer.from(stored.body, 'base64'), associatedDataOf(stored))
  if (text === undefined) throw new Error('the response that is stored for an Idempotency-Key cannot be decrypted')
  return text
}

/** A refused effect leaves nothing, but its key is stored. */
const attempt = <Input, Output>(
  tx: Tx,
  { db }: World,
  { deferred, apply }: Effect<Input, Output>,
  input: () => Input,
): WriteResponse => {
  try {
    return responseOf(deferred, apply(tx, input()))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const { status, body } = renderFailure(error.failure, deferred.operation)
    if (!STORED_REFUSALS.has(status)) throw error
    db.undo()
    return { status, text: JSON.stringify(body), refusal: error }
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

/** A key also stands for an input that is refused. */
const readOnce = async <Input>(
  { read }: DeferredBody<Input, unknown>,
  parse: () => JsonObject,
): Promise<() => Input> => {
  try {
    const reading = read(parse())
    const input = reading instanceof Promise ? await reading : reading
    return () => input
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
