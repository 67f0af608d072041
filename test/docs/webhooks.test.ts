import { describe, expect, test } from 'bun:test'
import { EVENT_TYPES } from '../../src/events/types.ts'
import { eventsOf } from '../events/events.ts'
import { sharedServer } from '../harness.ts'
import { PHYSICAL, pay, place } from '../records.ts'
import { readDocument } from './document.ts'
import { faultsOf } from './schemas.ts'

/** The document describes the deliveries that are made. */

const server = await sharedServer()
const { webhooks } = await readDocument(server)

const contentOf = (type: string) => {
  const content = webhooks[type]?.post.requestBody?.content['application/json']
  if (!content) throw new Error(`${type} is not documented`)
  return content
}

describe('The webhooks of the document', () => {
  test('are all types of events', () => expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES]))

  test.each([...EVENT_TYPES])('%s has an example that is valid', (type) => {
    const { schema, example } = contentOf(type)
    expect(faultsOf(schema, example)).toEqual([])
  })

  test('describe the deliveries that are sent', async () => {
    const world = await server.world('2030-01-01T12:00:00.000Z')
    await pay(world)
    await place(world, { ...PHYSICAL, quantity: 2 })
    await world.clock({ advance: 'PT1M' })
    const { id } = await place(world, { ...PHYSICAL, quantity: 2 })
    await world.post(`/api/v1/orders/${id}/cancel`)
    const events = await eventsOf(world)
    expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(11)
    for (const event of events) {
      expect({ type: event.type, faults: faultsOf(contentOf(event.type).schema, event) }).toEqual({
        type: event.type,
        faults: [],
      })
    }
  })
})
