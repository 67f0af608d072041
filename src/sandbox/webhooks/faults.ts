import type { Event } from '../../events/queries.ts'
import { matches } from '../../events/types.ts'
import type { DeliveryFault } from '../../webhooks/deliveries.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { EventLog } from '../explore/events.ts'
import { rulesOf } from '../faults/rules.ts'

/** Deliveries that were held back: each is once. */
const heldBack = worldPart(() => new Set<string>())

/** What becomes of the first attempt of a delivery: by a rule of its world, or by an exploration. */
export const takeDeliveryFault = (
  world: World,
  webhookId: string,
  event: Event,
  explored: EventLog | undefined,
): DeliveryFault | undefined => {
  const delivery = `${webhookId} ${event.eventId}`
  const held = world.of(heldBack)
  if (held.delete(delivery)) return undefined
  const fault = takeRule(world, event) ?? explored?.attempted(world, webhookId, event)
  if (fault === 'reorder') held.add(delivery)
  return fault
}

/** Uses up the first rule that applies to an event (contract C16). */
const takeRule = (world: World, event: Event): DeliveryFault | undefined => {
  for (const rule of rulesOf(world)) {
    const { webhook, match, times_left } = rule
    if (webhook === undefined || times_left === 0 || !matches([match.type ?? '*'], event.type)) continue
    if (times_left !== null) rule.times_left = times_left - 1
    return webhook
  }
  return undefined
}
