import type { JsonObject } from '../../http/json.ts'
import { controlRoutes } from '../control/operation.ts'
import type { Parts } from '../parts.ts'
import { getWorld, WORLD_EXAMPLE, WorldSummary, worldWire } from '../worlds/contract.ts'
import { worldOfSteps } from './make.ts'
import { readSteps, SCENARIO_STOPPED, ScenarioSchema } from './scenario.ts'

export const scenarioRoutes = (parts: Parts) =>
  controlRoutes('scenario.').put(
    '/scenario',
    async ({ query, body: steps }) => {
      const { name } = getWorld(parts.worlds, query.world)
      return worldWire(await worldOfSteps(parts, name, steps))
    },
    {
      id: 'loadScenario',
      summary: 'Replace a world with one built from requests',
      description:
        'Sends the requests of the scenario in order to a fresh world, outside of rate limits and coverage. The first that gets another status than it expects stops it, and the world stays as it was. Tokens live on. At most 1,000 steps and 1 MiB.',
      body: ScenarioSchema,
      bodyExample: {
        steps: [{ method: 'POST', path: '/api/v1/orders', body: { product_id: 1, denomination: 100, quantity: 2 } }],
      },
      bodyValuesMax: Number.POSITIVE_INFINITY,
      read: (sent: JsonObject) => readSteps(sent),
      response: { description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
      refuses: { stopped: SCENARIO_STOPPED },
    },
  )
