import type { Event } from '../../events/queries.ts'
import { matches } from '../../events/types.ts'
import type { DeliveryFault } from '../../webhooks/deliveries.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import { rulesOf } from '../faults/rules.ts'

/** Deliveries that were held back: each is once. */
const heldBack = worldPart(() => new Set<string>())

/** Uses up the first rule that strikes the first attempt of a delivery (contract C16). */
export const takeDeliveryFault = (world: World, webhookId: string, event: Event): DeliveryFault | undefined => {
  const delivery = `${webhookId} ${event.eventId}`
  const held = world.of(heldBack)
  if (held.delete(delivery)) return undefined
  for (const rule of rulesOf(world)) {
    const { webhook, match, times_left } = rule
    if (webhook === undefined || times_left === 0 || !matches([match.type ?? '*'], event.type)) continue
    if (times_left !== null) rule.times_left = times_left - 1
    if (webhook === 'reorder') held.add(delivery)
    return webhook
  }
  return undefined
}
