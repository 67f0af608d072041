import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { EVENT_PATTERNS } from '../events/types.ts'
import type { JsonObject } from '../http/json.ts'
import { oneOf } from '../http/schemas.ts'
import { bodyCheck, Text } from '../http/validation.ts'
import { type AddressRules, receiverProblem } from './addresses.ts'
import { SIGNINGS } from './tables.ts'

/** The most patterns of a filter (contract C16). */
const EVENTS_MAX = 50

const members = {
  name: Text({ minLength: 1, maxLength: 100, description: 'Your own name for it' }),
  url: Text({
    maxLength: 2_048,
    description: 'Where events are posted to: https, or http where the server allows it',
  }),
  events: Type.Array(oneOf(EVENT_PATTERNS), {
    minItems: 1,
    maxItems: EVENTS_MAX,
    description: 'Types of events, order.* for all of a kind, * for all',
  }),
}

export const WebhookBody = Type.Object(
  {
    ...members,
    signing: Type.Optional(
      oneOf(SIGNINGS, { default: 'standard', description: 'How deliveries are signed: see the guide for webhooks' }),
    ),
  },
  { title: 'WebhookRequest' },
)

export const WebhookUpdateBody = Type.Object(
  {
    name: Type.Optional(members.name),
    url: Type.Optional(members.url),
    events: Type.Optional(members.events),
    active: Type.Optional(Type.Boolean({ description: 'Switching it off drops what waits for it' })),
  },
  { title: 'WebhookUpdate' },
)

const checkWebhook = bodyCheck(WebhookBody)
const checkUpdate = bodyCheck(WebhookUpdateBody)

const trimmed = (sent: JsonObject): JsonObject =>
  typeof sent.name === 'string' ? { ...sent, name: sent.name.trim() } : sent

/** @throws DomainError validation */
export const readWebhook = async (sent: JsonObject, rules: AddressRules): Promise<Static<typeof WebhookBody>> =>
  checkWebhook(trimmed(sent), await receiverRule(sent.url, rules))

/** @throws DomainError validation */
export const readUpdate = async (sent: JsonObject, rules: AddressRules): Promise<Static<typeof WebhookUpdateBody>> =>
  checkUpdate(trimmed(sent), await receiverRule(sent.url, rules))

/** The name of a host is resolved before the check, which names everything that is wrong at once (contract C4). */
const receiverRule = async (url: unknown, rules: AddressRules) => {
  const problem = Value.Check(members.url, url) ? await receiverProblem(url, rules) : undefined
  return { url: () => (problem === undefined ? undefined : ({ rule: 'format', problem } as const)) }
}
