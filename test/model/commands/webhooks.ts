import fc from 'fast-check'
import { badRequest, faultsIn, invalid, memberFaults, notFound } from '../expect.ts'
import { countHappenings, fits, happened, type Webhook } from '../happenings.ts'
import type { ClientName, World } from '../model.ts'
import type { At, Expected, Play, Who } from '../play.ts'
import { badPageFields, command, pages, pick, queryOf, sent, which, whoever, worldNames } from './command.ts'
import { listing } from './request.ts'
import { ask } from './sessions.ts'

/** Events, webhooks and the inboxes of the sandbox (contract C16). */

const LIST = { limitDefault: 20, limitMax: 100 }
const WEBHOOKS_MAX = 20

/** A receiver that a script names: an inbox of the same world, or a port at which nobody listens. */
const INBOX = 'an inbox'
const NOBODY = 'http://127.0.0.1:9/'
const MEMBERS = {
  name: [
    ['mine', ' padded ', 'x'.repeat(100)],
    ['', ' ', 'x'.repeat(101), null, 1, 'a\u0000'],
  ],
  url: [
    [INBOX, INBOX, INBOX, NOBODY],
    [
      'ftp://127.0.0.1/',
      'http://a:b@127.0.0.1/',
      'http://10.0.0.1/',
      'x',
      '',
      null,
      1,
      `${NOBODY}${'x'.repeat(2_048)}`,
    ],
  ],
  events: [
    [['*'], ['order.*', 'wallet.low'], ['payout.completed'], ['wallet.*']],
    [[], ['nothing'], '*', null, Array.from({ length: 51 }, () => '*'), ['order.*', 1]],
  ],
} as const
const SIGNINGS = [
  [undefined, undefined, null, 'standard', 'timestamped', 'body'],
  ['md5', '', 1],
] as const

type Sent = Record<string, unknown>
const GOOD: Record<string, readonly unknown[]> = {
  ...Object.fromEntries(Object.entries(MEMBERS).map(([name, [good]]) => [name, good])),
  signing: SIGNINGS[0],
}
const badMembers = (body: Sent, names: readonly string[]): string[] =>
  names.filter((name) => !GOOD[name]?.some((good) => Bun.deepEquals(good, body[name])))

const ownWebhooks = ({ state }: World, client: ClientName): Webhook[] =>
  state.webhooks.filter((webhook) => webhook.client === client)

/** Puts the address of a receiver in the place of its name. */
const addressed = (play: Play, { world }: Who, body: Sent): { body: Sent; inbox: string } => {
  const inbox = play.freshName('hooks')
  if (body.url !== INBOX) return { body, inbox }
  return { body: { ...body, url: `${play.program.url}/_sandbox/inbox/${inbox}?world=${world}` }, inbox }
}

const wireOf = ({ id, name, url, events, signing }: Webhook) => ({ id, name, url, events, signing })
const webhookFault = (json: unknown, webhook: Webhook): string | undefined => {
  const { active } = json as { active: boolean }
  if (active !== webhook.active && (webhook.isSure || !webhook.active)) return `active is ${active}`
  return memberFaults(json, wireOf(webhook))
}

/** Everything that waits is delivered, or was tried. */
const settle = async (play: Play, name: string): Promise<void> => {
  if (!play.model.worlds.has(name)) return
  await play.control({ operation: 'settleWebhooks' }, name, (world, response) => {
    play.model.catchUp(world, play.now(world, response.real).lo)
    return { status: 200, body: { settled: true } }
  })
}

const createWebhook = command('create a webhook', ['createWebhook'], 4, {
  args: fc.record({ who: whoever, body: sent({ ...MEMBERS, signing: SIGNINGS }) }),
  run: async (play, { who, body: named }) => {
    const { body, inbox } = addressed(play, who, named)
    await ask(play, who, { operation: 'createWebhook', body }, ({ world, client, response }) => {
      const bad = badMembers(named, ['name', 'url', 'events', 'signing'])
      if (bad.length > 0) return invalid('structured', bad)
      if (ownWebhooks(world, client).length >= WEBHOOKS_MAX) return badRequest('structured', 'At most 20 webhooks')
      return {
        status: 201,
        fault: ({ json }) => {
          const { id, secret } = json as { id: string; secret: string }
          const isSure = named.url === INBOX && world.inbox === 'as made'
          const webhook: Webhook = {
            ...{ id, client, inbox, isSure, active: true, due: isSure ? 0 : undefined },
            name: String(body.name).trim(),
            url: String(body.url),
            events: body.events as string[],
            signing: String(body.signing ?? 'standard'),
          }
          world.state.webhooks.push(webhook)
          world.state.written = true
          if (!/^whk_[0-9a-z]{20,}$/.test(id)) return 'an id in another form'
          if (!/^whsec_[A-Za-z0-9+/]{43}=$/.test(secret)) return 'a secret in another form'
          return (
            faultsIn({ 'cache-control': [response.headers.get('cache-control'), 'no-store'] }) ??
            webhookFault(json, webhook)
          )
        },
      }
    })
  },
})

const listWebhooks = listing('list the webhooks', 'listWebhooks', {
  shape: 'structured',
  page: LIST,
  ids: ({ world, client }) =>
    ownWebhooks(world, client)
      .map(({ id }) => id)
      .toReversed(),
})

/** Asks about a webhook of a world, which may be another client's. */
const onWebhook = (
  does: string,
  operation: string,
  rule: (at: At, webhook: Webhook) => Expected,
  before: (play: Play, who: Who) => Promise<void> = async () => {},
) =>
  command(does, [operation], 2, {
    args: fc.record({ who: whoever, nth: which }),
    run: async (play, { who, nth }) => {
      await before(play, who)
      const id = nth === 30 ? 'whk_0' : (pick(play.model.worlds.get(who.world)?.state.webhooks ?? [], nth)?.id ?? '1')
      await ask(play, who, { operation, id }, (at) => {
        const webhook = ownWebhooks(at.world, at.client).find((each) => each.id === id)
        return webhook ? rule(at, webhook) : notFound('structured', 'Webhook not found')
      })
    },
  })

const updateWebhook = command('change a webhook', ['updateWebhook'], 3, {
  args: fc.record({
    who: whoever,
    nth: which,
    body: fc.oneof(
      fc.record({ active: fc.boolean() }),
      sent({
        ...MEMBERS,
        active: [
          [undefined, true, false],
          ['yes', 1],
        ],
      }),
    ),
  }),
  run: async (play, { who, nth, body: named }) => {
    await settle(play, who.world)
    const given: Sent = named
    const { body, inbox } = addressed(play, who, given)
    const id = pick(play.model.worlds.get(who.world)?.state.webhooks ?? [], nth)?.id ?? 'whk_0'
    await ask(play, who, { operation: 'updateWebhook', id, body }, ({ world, client }) => {
      const bad = badMembers(
        given,
        Object.keys(given).filter((name) => name !== 'active'),
      )
      const { active } = given
      if (active !== undefined && typeof active !== 'boolean') bad.push('active')
      // An optional member that is null counts as left out (contract C4).
      const refused = bad.filter((name) => given[name] !== null)
      if (refused.length > 0) return invalid('structured', refused)
      const webhook = ownWebhooks(world, client).find((each) => each.id === id)
      if (!webhook) return notFound('structured', 'Webhook not found')
      if (typeof body.name === 'string') webhook.name = body.name.trim()
      if (Array.isArray(body.events)) webhook.events = body.events as string[]
      if (typeof body.url === 'string') {
        webhook.url = body.url
        Object.assign(webhook, { inbox, isSure: false, due: undefined })
      }
      if (typeof active === 'boolean') webhook.active = active
      return { status: 200, fault: ({ json }) => webhookFault(json, webhook) }
    })
  },
})

const readInboxes = command('look into the inboxes', ['settleWebhooks', 'listInbox'], 3, {
  args: fc.record({ world: worldNames }),
  run: async (play, { world: name }) => {
    await settle(play, name)
    await play.control({ operation: 'listInbox' }, name, ({ state }) => ({
      status: 200,
      fault: ({ json }) => {
        const entries = json as { name: string; body: string }[]
        for (const { inbox, isSure, due, events } of state.webhooks) {
          if (!isSure || due === undefined) continue
          const own = entries.filter((entry) => entry.name === inbox)
          if (own.length !== due) {
            return `the inbox ${inbox} received ${own.length} events of ${due}`
          }
          const strange = own
            .map(({ body }) => JSON.parse(body) as { type: string })
            .find(({ type }) => type !== 'ping' && !fits(events, type))
          if (strange) return `the inbox ${inbox} received ${strange.type}`
        }
        return undefined
      },
    }))
  },
})

const listEvents = command('list the events', ['listEvents', 'getEvent'], 4, {
  args: fc.record({
    who: whoever,
    type: fc.constantFrom(undefined, '*', 'order.*', 'payout.*', 'wallet.*', 'wallet.low', 'order.refunded', 'gift'),
    page: pages,
    nth: which,
  }),
  run: async (play, { who, type, page, nth }) => {
    const response = await ask(play, who, { operation: 'listEvents', query: queryOf({ type, ...page }) }, (at) => {
      const bad = [...badPageFields(page, LIST), ...(type === 'gift' ? ['type'] : [])]
      return bad.length > 0 ? invalid('structured', bad) : { status: 200, fault: () => eventsFault(at, type ?? '*') }
    })
    if (response.status !== 200) return
    const event = pick(response.json as EventWire[], nth)
    await ask(play, who, { operation: 'getEvent', id: event?.id ?? 'evt_0' }, () =>
      event ? { status: 200, body: event } : notFound('structured', 'Event not found'),
    )
  },
})

interface EventWire {
  id: string
  type: string
  created_at: string
  data: { id?: string | number }
}

const eventsFault = ({ world, client, now, response }: At, filter: string): string | undefined => {
  const events = response.json as EventWire[]
  const count = Number(response.headers.get('x-total-count'))
  const { lo, hi } = countHappenings(world.state, client, filter, now)
  if (count < lo || count > hi) return `${count} events of ${filter}, expected ${lo === hi ? lo : `${lo} to ${hi}`}`
  const { orders, payouts, wallets } = world.state
  const own = { order: orders, payout: payouts, wallet: wallets }
  for (const { type, data } of events) {
    if (!fits([filter], type)) return `lists ${type}`
    const records: readonly { id: string | number; client: ClientName }[] =
      own[type.split('.')[0] as keyof typeof own] ?? []
    if (records.some((record) => record.id === data.id && record.client !== client)) return `${type} of another client`
  }
  return undefined
}

const makeEvent = command('make an event', ['makeEvent'], 2, {
  args: fc.record({
    world: worldNames,
    type: fc.constantFrom<unknown>('order.created', 'payout.failed', 'wallet.low', 'order.*', 'gift', null),
    client: fc.constantFrom<unknown>(undefined, 'sandbox', 'limited', '2', 'nobody', ''),
  }),
  run: async (play, { world: name, type, client }) => {
    await play.control({ operation: 'makeEvent', body: { type, client, data: { id: 0 } } }, name, (world, response) => {
      play.model.catchUp(world, play.now(world, response.real).lo)
      const bad = [
        ...(typeof type === 'string' && /^(?:order|payout|wallet)\.[a-z]+$/.test(type) ? [] : ['type']),
        ...(client === '' ? ['client'] : []),
      ]
      if (bad.length > 0) return { status: 400 }
      if (client === 'nobody') return notFound('structured', 'Client not found')
      happened(world.state, client === 'limited' || client === '2' ? 'limited' : 'sandbox', String(type))
      world.state.written = true
      return { status: 201, fault: ({ json }) => memberFaults(json, { type, data: { id: 0 } }) }
    })
  },
})

const redeliver = command('deliver an event again', ['listEvents', 'redeliverEvent'], 2, {
  args: fc.record({ who: whoever, nth: which }),
  run: async (play, { who, nth }) => {
    await settle(play, who.world)
    const listed = await ask(play, who, { operation: 'listEvents' }, () => ({ status: 200 }))
    const event = listed.status === 200 ? pick(listed.json as EventWire[], nth) : undefined
    await ask(play, who, { operation: 'redeliverEvent', id: event?.id ?? 'evt_0' }, ({ world, client }) => {
      if (!event) return notFound('structured', 'Event not found')
      for (const webhook of ownWebhooks(world, client)) webhook.due = undefined
      return { status: 202, body: event }
    })
  },
})

const replyOfInbox = command('set the reply of an inbox', ['setInboxReply', 'receiveInInbox'], 1, {
  args: fc.record({
    world: worldNames,
    nth: which,
    status: fc.constantFrom<unknown>(undefined, 200, 204, 410, 500, 199, 600, '200'),
    delay_ms: fc.constantFrom<unknown>(undefined, 0, 2, -1, 60_001),
  }),
  run: async (play, { world: name, nth, status, delay_ms }) => {
    const inbox = pick(play.model.worlds.get(name)?.state.webhooks ?? [], nth)?.inbox ?? 'hooks'
    const isGood =
      [undefined, 200, 204, 410, 500].includes(status as number) && [undefined, 0, 2].includes(delay_ms as number)
    await settle(play, name)
    await play.control({ operation: 'setInboxReply', id: inbox, body: { status, delay_ms } }, name, (world) => {
      if (!isGood) return { status: 400 }
      world.inbox = 'told otherwise'
      for (const webhook of world.state.webhooks) Object.assign(webhook, { isSure: false, due: undefined })
      return { status: 200, body: { status: status ?? 200, delay_ms: delay_ms ?? 0 } }
    })
    if (!isGood || !play.model.worlds.has(name) || status === 204) return
    await play.program.ask(`/_sandbox/inbox/${inbox}?world=${name}`, { method: 'POST', body: '{}' })
  },
})

const clearInbox = command('empty the inboxes', ['clearInbox'], 1, {
  args: fc.record({ world: worldNames }),
  run: async (play, { world: name }) => {
    await settle(play, name)
    await play.control({ operation: 'clearInbox' }, name, ({ state }) => {
      for (const webhook of state.webhooks) if (webhook.due !== undefined) webhook.due = 0
      return { status: 204 }
    })
  },
})

export const webhookCommands = [
  createWebhook,
  listWebhooks,
  onWebhook('get a webhook', 'getWebhook', (_, webhook) => ({
    status: 200,
    fault: ({ json }) => webhookFault(json, webhook),
  })),
  updateWebhook,
  onWebhook('rotate the secret of a webhook', 'rotateWebhookSecret', (_, webhook) => ({
    status: 200,
    fault: ({ json }) => webhookFault(json, webhook),
  })),
  onWebhook('ping a webhook', 'pingWebhook', ({ world, client, response }, webhook) => {
    if (!webhook.active) return badRequest('structured', 'Webhook is not active')
    if (!webhook.isSure && response.status === 400) return { status: 400 }
    happened(world.state, client, 'ping', webhook)
    return { status: 202, fault: ({ json }) => memberFaults(json, { type: 'ping', data: { webhook_id: webhook.id } }) }
  }),
  onWebhook(
    'delete a webhook',
    'deleteWebhook',
    ({ world }, webhook) => {
      world.state.webhooks = world.state.webhooks.filter((each) => each !== webhook)
      return { status: 204 }
    },
    (play, who) => settle(play, who.world),
  ),
  onWebhook('list the deliveries of a webhook', 'listDeliveries', () => ({ status: 200 })),
  readInboxes,
  listEvents,
  makeEvent,
  redeliver,
  replyOfInbox,
  clearInbox,
]
