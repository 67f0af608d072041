import { Elysia } from 'elysia'
import { worldOperation } from '../control/operation.ts'
import type { Parts } from '../parts.ts'
import { getWorld, WORLD_EXAMPLE, WorldSummary, worldWire } from '../worlds/operations.ts'
import { placeScenario } from './place.ts'
import { readSteps, SCENARIO_STOPPED, ScenarioSchema } from './scenario.ts'

const loadScenario = worldOperation('scenario')({
  id: 'loadScenario',
  summary: 'Replace a world by one that is made of requests',
  description:
    'Sends the requests of the scenario in order to a fresh world, outside of rate limits and coverage. The first that gets another status than it expects stops it, and the world stays as it was. Tokens live on. At most 1,000 steps and 1 MiB.',
  body: ScenarioSchema,
  bodyExample: {
    steps: [{ method: 'POST', path: '/api/v1/orders', body: { product_id: 1, denomination: 100, quantity: 2 } }],
  },
  bodyValuesMax: Number.POSITIVE_INFINITY,
  read: (sent) => readSteps(sent),
  success: { status: 200, description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
  errors: { stopped: SCENARIO_STOPPED },
})

export const scenarioRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-scenario' }).put(
    '/scenario',
    async ({ query, body: steps }) => {
      const { name } = getWorld(parts.worlds, query.world)
      return worldWire(await placeScenario(parts, name, steps))
    },
    loadScenario,
  )
