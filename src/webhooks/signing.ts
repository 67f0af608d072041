import { createHmac, timingSafeEqual } from 'node:crypto'
import { SECOND_MS } from '../kernel/clock.ts'
import type { Signing } from './tables.ts'

const SECRET_PREFIX = 'whsec_'

export const secretFrom = (bytes: Uint8Array): string => SECRET_PREFIX + Buffer.from(bytes).toString('base64')

/** All kinds of signatures use the bytes that the base64 encodes as their key. */
const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

const hex = (secret: string, text: string): string => createHmac('sha256', keyOf(secret)).update(text).digest('hex')

interface SignedEvent {
  webhookId: string
  eventId: string
  eventType: string
  body: string
  /** The time of the attempt, by the clock of the world. */
  atMs: number
  /** The new secret first; each signs. */
  secrets: readonly string[]
}

/** The library is loaded on first use, because it delays the start. */
const standardSignature = (
  { eventId, body, atMs }: Pick<SignedEvent, 'eventId' | 'body' | 'atMs'>,
  secret: string,
): string => {
  const { Webhook } = require('standardwebhooks') as typeof import('standardwebhooks')
  return new Webhook(secret).sign(eventId, new Date(atMs), body)
}

/** The headers with which a receiver verifies the sender of an event (contract C16). */
export const signatureHeaders: Record<Signing, (event: SignedEvent) => Record<string, string>> = {
  // https://www.standardwebhooks.com
  standard: (event) => ({
    'webhook-id': event.eventId,
    'webhook-timestamp': secondsOf(event.atMs),
    'webhook-signature': event.secrets.map((secret) => standardSignature(event, secret)).join(' '),
  }),
  timestamped: ({ body, atMs, secrets }) => ({
    'X-Timestamp': secondsOf(atMs),
    'X-Signature': secrets.map((secret) => hex(secret, `${secondsOf(atMs)}.${body}`)).join(','),
  }),
  body: ({ webhookId, eventId, eventType, body, atMs, secrets }) => ({
    'X-Webhook-ID': webhookId,
    'X-Event-ID': eventId,
    'X-Event-Type': eventType,
    'X-Timestamp': secondsOf(atMs),
    'X-Signature': secrets.map((secret) => hex(secret, body)).join(','),
  }),
}

const secondsOf = (timeMs: number): string => String(Math.floor(timeMs / SECOND_MS))

/** The header with the time, the header with the signatures, and the separator of the signatures. */
const HEADERS: Record<Signing, readonly [stamp: string, signature: string, separator: string]> = {
  standard: ['webhook-timestamp', 'webhook-signature', ' '],
  timestamped: ['X-Timestamp', 'X-Signature', ','],
  body: ['X-Timestamp', 'X-Signature', ','],
}

/** The time of the signature in the headers of a delivery, by the clock of its world in whole seconds; undefined without one. */
export const signedAtMs = (signing: Signing, headers: Headers): number | undefined => {
  const seconds = headers.get(HEADERS[signing][0]) ?? ''
  return /^\d{1,11}$/.test(seconds) ? Number(seconds) * SECOND_MS : undefined
}

/** True if one of the secrets made one of the signatures, at any time: a world has its own clock. */
export const isSignedBy = (secrets: readonly string[], signing: Signing, headers: Headers, body: string): boolean => {
  const [, signature, separator] = HEADERS[signing]
  const atMs = signedAtMs(signing, headers)
  if (atMs === undefined) return false
  const eventId = headers.get('webhook-id') ?? ''
  const signed = signatureHeaders[signing]({ webhookId: '', eventId, eventType: '', body, atMs, secrets })
  const expected = (signed[signature] ?? '').split(separator).map((text) => Buffer.from(text))
  const sent = (headers.get(signature) ?? '').split(separator).map((text) => Buffer.from(text))
  return expected.some((valid) => sent.some((each) => each.length === valid.length && timingSafeEqual(each, valid)))
}
