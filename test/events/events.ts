import type { TestWorld } from '../harness.ts'
import type { PublishedEvent } from '../records.ts'

export const EVENTS = '/api/v1/events'

/** The events of a client, the oldest first. */
export const eventsOf = async (world: TestWorld, query = ''): Promise<PublishedEvent[]> => {
  const events = await world.read<PublishedEvent[]>(`${EVENTS}?limit=100${query}`)
  return events.reverse()
}

/** Their types, with the status of a record and the amount of a wallet. */
export const storyOf = async (world: TestWorld, query = ''): Promise<string[]> =>
  (await eventsOf(world, query)).map(({ type, data }) => `${type} ${data.status ?? data.amount}`)
