import fc from 'fast-check'
import { faultsIn, notFound } from '../expect.ts'
import { CLIENT_IDS, type Order, type Payout, type World } from '../model.ts'
import { majorOf } from '../money.ts'
import type { Play } from '../play.ts'
import { byIdDown, command, pick, which, worldNames } from './command.ts'

/** The records of all clients of a world, for people who look at it (contract C15). */

type Sent = Record<string, unknown>
const LIMIT_DEFAULT = 100

/** Lists records of a world in which everything that has fallen due is done. */
const listed = (
  play: Play,
  operation: string,
  name: string,
  fault: (rows: readonly Sent[], world: World) => string | undefined,
) =>
  play.control({ operation }, name, (world, response) => {
    play.model.catchUp(world, play.now(world, response.real).lo)
    return { status: 200, fault: ({ json }) => fault(json as Sent[], world) }
  })

const statesFault = (rows: readonly Sent[], records: readonly (Order | Payout)[]): string | undefined => {
  const ids = byIdDown(records).slice(0, LIMIT_DEFAULT)
  const states = new Map<unknown, unknown[]>(
    records.map(({ id, client, status }) => [id, [CLIENT_IDS[client], status]]),
  )
  return (
    faultsIn({ ids: [rows.map(({ id }) => id), ids] }) ??
    faultsIn({ states: [rows.map(({ client_id, status }) => [client_id, status]), ids.map((id) => states.get(id))] })
  )
}

export const recordCommands = [
  command(
    'list the records of a world',
    ['listWorldWallets', 'listWorldOrders', 'listWorldPayouts', 'listWorldWebhooks'],
    2,
    {
      args: fc.record({ world: worldNames }),
      run: async (play, { world: name }) => {
        await listed(play, 'listWorldOrders', name, (rows, { state }) => statesFault(rows, state.orders))
        await listed(play, 'listWorldPayouts', name, (rows, { state }) => statesFault(rows, state.payouts))
        await listed(play, 'listWorldWallets', name, (rows, { state }) => {
          const held = state.wallets.map(({ id, client, currency, amount }) => [
            id,
            CLIENT_IDS[client],
            majorOf(amount, currency),
          ])
          return faultsIn({ wallets: [rows.map(({ id, client_id, amount }) => [id, client_id, amount]), held] })
        })
        await listed(play, 'listWorldWebhooks', name, (rows, { state }) =>
          faultsIn({ webhooks: [rows.map(({ id }) => id).sort(), state.webhooks.map(({ id }) => id).sort()] }),
        )
      },
    },
  ),
  command('see what falls due in a world', ['listDue'], 2, {
    args: fc.record({ world: worldNames }),
    run: async (play, { world: name }) => {
      await listed(play, 'listDue', name, (rows, { state }) => {
        const known = (kind: string, records: readonly (Order | Payout)[]) =>
          records.flatMap(({ id, dueAt }) => (dueAt === null ? [] : [`${kind} ${id}`]))
        const steps = rows.filter(({ kind }) => kind !== 'delivery').map(({ kind, id }) => `${kind} ${id}`)
        const times = rows.map(({ at }) => String(at))
        return faultsIn({
          times: [times, times.toSorted()],
          // The list is cut at its limit.
          ...(rows.length < LIMIT_DEFAULT && {
            steps: [steps.sort(), [...known('order', state.orders), ...known('payout', state.payouts)].sort()],
          }),
        })
      })
    },
  }),
  command('deliver an event of a world again', ['listWorldEvents', 'redeliverWorldEvent'], 1, {
    args: fc.record({ world: worldNames, nth: which }),
    run: async (play, { world: name, nth }) => {
      const response = await listed(play, 'listWorldEvents', name, () => undefined)
      if (response.status !== 200) return
      const event = pick(response.json as Sent[], nth)
      await play.control({ operation: 'redeliverWorldEvent', id: String(event?.id ?? 'evt_0') }, name, (world) => {
        if (!event) return notFound('structured', 'Event not found')
        for (const webhook of world.state.webhooks) webhook.due = undefined
        world.state.written = true
        return { status: 202 }
      })
    },
  }),
]
