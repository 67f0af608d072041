import { Elysia } from 'elysia'
import type { Parts } from '../parts.ts'
import { getWorld } from '../worlds/operations.ts'
import * as operations from './operations.ts'

export const webhookRoutes = ({ worlds, due, deliveries }: Parts) =>
  new Elysia({ name: 'sandbox-webhooks' }).post(
    '/webhooks/settle',
    async ({ query }) => {
      const world = getWorld(worlds, query.world)
      await due.catchUp(world)
      await deliveries.settled(world)
      return { settled: true as const }
    },
    operations.settleWebhooks,
  )
