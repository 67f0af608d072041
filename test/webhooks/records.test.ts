import { describe, expect, test } from 'bun:test'
import { badRequest, validation } from '../errors.ts'
import { sharedServer, testIn } from '../harness.ts'
import { NOON } from '../records.ts'
import { hook, patchHook, WEBHOOKS, type WebhookBody } from './webhooks.ts'

const server = await sharedServer()

const atNoon = testIn(() => server.world(NOON))
const URL = 'http://127.0.0.1:9/hooks'
const VALID = { name: 'Fulfilment', url: URL, events: ['order.*', 'payout.completed'] }
const statusAndBody = async (response: Response): Promise<[number, unknown]> => [response.status, await response.json()]

describe('POST /api/v1/webhooks', () => {
  atNoon('201 is the webhook with its secret, in no cache', async (world) => {
    const response = await world.post(WEBHOOKS, { ...VALID, name: '  Fulfilment ' })
    const body = (await response.json()) as WebhookBody
    expect([response.status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^whk_[0-9a-z]{25}$/) as unknown as string,
        ...VALID,
        signing: 'standard',
        active: true,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as unknown as string,
        created_at: NOON,
        updated_at: NOON,
        disabled_reason: null,
      },
    ])
    expect(response.headers.get('location')).toBe(`${WEBHOOKS}/${body.id}`)
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test.each([
    [{ name: undefined }, 'name', 'required', 'is required'],
    [{ name: ' ' }, 'name', 'min', 'must be at least 1 character long'],
    [{ name: 'x'.repeat(101) }, 'name', 'max', 'must be at most 100 characters long'],
    [{ url: null }, 'url', 'required', 'is required'],
    [{ url: `${URL}/${'x'.repeat(2_048)}` }, 'url', 'max', 'must be at most 2048 characters long'],
    [{ url: 'http://:@127.0.0.1:9/' }, 'url', 'format', 'must not contain credentials'],
    [{ url: `${URL}\r\nHost: evil` }, 'url', 'format', 'must not contain spaces or control characters'],
    [{ events: [] }, 'events', 'min', 'must have at least 1 item'],
    [{ events: Array(51).fill('*') }, 'events', 'max', 'must have at most 50 items'],
    [{ events: 'order.*' }, 'events', 'format', 'must be a list'],
    [{ events: [5] }, 'events', 'enum', expect.stringContaining('must be one of *, order.*') as unknown as string],
    [{ signing: 'none' }, 'signing', 'enum', 'must be one of standard, timestamped, body'],
  ])('400 refuses no. %# of what is invalid', async (change, field, rule, problem) => {
    const world = await server.world(NOON)
    const [status, body] = await statusAndBody(await world.post(WEBHOOKS, { ...VALID, ...change }))
    expect(status).toBe(400)
    if (typeof problem === 'string') expect(body).toEqual(validation(field, rule, problem))
    else expect(body).toMatchObject({ error: { messages: { [field]: [{ rule }] } } })
    expect((await world.get(WEBHOOKS)).headers.get('x-total-count')).toBe('0')
  })

  atNoon('400 names an address that is refused beside everything else that is invalid', async (world) => {
    const response = await world.post(WEBHOOKS, { ...VALID, name: ' ', url: 'ftp://127.0.0.1/' })
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { messages: object } }
    expect(Object.keys(error.messages)).toEqual(['name', 'url'])
  })

  test.each(['order.unknown', 'order', '**', 'payout.c*', '', 'ORDER.*'])(
    '400 refuses the filter %p',
    async (pattern) => {
      const world = await server.world(NOON)
      const response = await world.post(WEBHOOKS, { ...VALID, events: ['order.*', pattern] })
      expect(response.status).toBe(400)
    },
  )

  atNoon('400 refuses the 21st of a client, and not the first of another', async (world) => {
    for (let count = 0; count < 20; count++) await hook(world, URL)
    expect(await statusAndBody(await world.post(WEBHOOKS, VALID))).toEqual([400, badRequest('At most 20 webhooks')])
    const other = await world.limited()
    const { id } = await hook(other, URL)
    await other.delete(`${WEBHOOKS}/${id}`)
    const page = await world.get(`${WEBHOOKS}?limit=100`)
    const [newest] = (await page.json()) as WebhookBody[]
    await world.delete(`${WEBHOOKS}/${newest?.id}`)
    await hook(world, URL)
  })
})

describe('GET /api/v1/webhooks', () => {
  atNoon('lists the webhooks of the client, the newest first, with four headers and without secrets', async (world) => {
    const hooks: object[] = []
    for (let count = 0; count < 3; count++) {
      const { secret: _, ...rest } = await hook(world, URL, { name: `no. ${count}` })
      hooks.unshift(rest)
      await world.clock({ advance: 'PT1S' })
    }
    const response = await world.get(`${WEBHOOKS}?limit=2`)
    expect(await response.json()).toEqual(hooks.slice(0, 2))
    const headers = ['x-page', 'x-per-page', 'x-total-count', 'x-total-pages']
    expect(headers.map((name) => response.headers.get(name))).toEqual(['1', '2', '3', '2'])
    expect(await (await world.get(`${WEBHOOKS}?page=9`)).json()).toEqual([])
    expect(await (await (await world.limited()).get(WEBHOOKS)).json()).toEqual([])
  })
})

describe('PATCH /api/v1/webhooks/{id}', () => {
  atNoon('changes name, url, events and active, and nothing else', async (world) => {
    const { secret: _, ...created } = await hook(world, URL)
    await world.clock({ advance: 'PT1S' })
    const change = { name: 'other', url: 'http://127.0.0.2:9/', events: ['ping'], active: false }
    const response = await patchHook(world, created.id, { ...change, signing: 'body', id: 'x', secret: 'y' })
    const expected = { ...created, ...change, updated_at: '2030-01-01T12:00:01.000Z' }
    expect(await statusAndBody(response)).toEqual([200, expected])
    expect(await (await world.get(`${WEBHOOKS}/${created.id}`)).json()).toEqual(expected)
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ url: 'ftp://127.0.0.1' }, 'url'],
    [{ url: 'http://10.0.0.1/' }, 'url'],
    [{ events: [] }, 'events'],
    [{ active: 'yes' }, 'active'],
  ])('400 refuses %p and changes nothing', async (change, field) => {
    const world = await server.world(NOON)
    const { secret: _, ...created } = await hook(world, URL)
    const [status, body] = await statusAndBody(await patchHook(world, created.id, { active: false, ...change }))
    expect([status, body]).toMatchObject([400, { error: { messages: { [field]: [{ field }] } } }])
    expect(await (await world.get(`${WEBHOOKS}/${created.id}`)).json()).toEqual(created)
  })
})

describe('POST /api/v1/webhooks/{id}/rotate', () => {
  atNoon('200 is the webhook with a new secret, in no cache', async (world) => {
    const { secret, ...created } = await hook(world, URL)
    const response = await world.post(`${WEBHOOKS}/${created.id}/rotate`)
    const rotated = (await response.json()) as WebhookBody
    expect([response.status, rotated]).toEqual([200, { ...created, secret: expect.any(String) as unknown as string }])
    expect(rotated.secret).not.toBe(secret)
    expect(response.headers.get('cache-control')).toBe('no-store')
  })
})

describe('A secret', () => {
  atNoon('is nowhere but in the response that made it', async (world) => {
    const { id, secret } = await hook(world, URL)
    const paths = [WEBHOOKS, `${WEBHOOKS}/${id}`, `${WEBHOOKS}/${id}/deliveries`, '/api/v1/events']
    const log = await server.request(`/_sandbox/requests?world=${world.name}`)
    const texts = await Promise.all(paths.map(async (path) => (await world.get(path)).text()))
    for (const text of [...texts, await log.text()]) expect(text).not.toContain(secret.slice(6))
  })
})
