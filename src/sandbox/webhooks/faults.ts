import type { Event } from '../../events/queries.ts'
import { matches } from '../../events/types.ts'
import type { Deliver, Outgoing } from '../../webhooks/outgoing.ts'
import { holdBack } from '../../webhooks/queue.ts'
import type { ReceiverResponse } from '../../webhooks/sender.ts'
import { secretFrom } from '../../webhooks/signing.ts'
import { type World, worldPart } from '../../work/world.ts'
import type { DeliveryFault } from '../faults/contract.ts'
import { rulesOf } from '../faults/rules.ts'

/** The response of a receiver that was never sent the event. */
const LOST: ReceiverResponse = { status: 200, body: null, durationMs: 0, error: null }
const WRONG_SECRET = secretFrom(new Uint8Array(32))

/** Deliveries that were held back, and their fate. */
const heldBack = worldPart(() => new Map<string, readonly DeliveryFault[]>())

/** Attempts deliveries, the first attempt of each with the faults of its world (decision 73). */
export const faulty =
  (deliver: Deliver): Deliver =>
  async (outgoing, signal) => {
    const { world, webhook, queued } = outgoing
    const faults = queued.failures === 0 ? takeFaults(outgoing) : []
    const reorders = faults.indexOf('reorder')
    if (reorders !== -1) {
      world.of(heldBack).set(keyOf(outgoing), faults.toSpliced(reorders, 1))
      await world.db.write((tx) => holdBack(tx, webhook, queued, world.clock.nowMs()))
      return undefined
    }
    if (faults.includes('lose')) return LOST
    const sent = faults.includes('bad_signature') ? { ...outgoing, secrets: [WRONG_SECRET] } : outgoing
    const response = await deliver(sent, signal)
    for (const fault of faults) if (fault === 'duplicate') await deliver(sent, signal)
    return response
  }

const keyOf = ({ webhook, event }: Outgoing): string => `${webhook.id} ${event.eventId}`

/** The fate of a delivery: as decided when it was held back, or by the rules of its world. */
const takeFaults = (outgoing: Outgoing): readonly DeliveryFault[] => {
  const { world, event } = outgoing
  const heldEvents = world.of(heldBack)
  const left = heldEvents.get(keyOf(outgoing))
  heldEvents.delete(keyOf(outgoing))
  return left ?? takeRules(world, event)
}

/** Uses up every rule that applies to an event, in their order (contract C16). */
const takeRules = (world: World, event: Event): DeliveryFault[] =>
  rulesOf(world).flatMap((rule) => {
    const { webhook, match, times_left } = rule
    if (webhook === undefined || times_left === 0 || !matches([match.type ?? '*'], event.type)) return []
    if (times_left !== null) rule.times_left = times_left - 1
    return [webhook]
  })
