import type { TestWorld } from '../harness.ts'

export const EVENTS = '/api/v1/events'

/** An event as it is on the wire (contract C16). */
export interface EventBody {
  id: string
  type: string
  created_at: string
  data: Record<string, unknown>
}

/** The events of a client, the oldest first. */
export const eventsOf = async (world: TestWorld, query = ''): Promise<EventBody[]> => {
  const response = await world.get(`${EVENTS}?limit=100${query}`)
  if (response.status !== 200) throw new Error(`events: ${response.status} ${await response.text()}`)
  return ((await response.json()) as EventBody[]).reverse()
}

/** Their types, with the status of a record and the amount of a wallet. */
export const storyOf = async (world: TestWorld, query = ''): Promise<string[]> =>
  (await eventsOf(world, query)).map(({ type, data }) => `${type} ${data.status ?? data.amount}`)
