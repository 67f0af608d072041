import { Elysia, status, t } from 'elysia'
import { BENEFICIARIES, type Preparation } from './raw.ts'

/**
 * The least that an Elysia program costs which gives the responses of Scrip: prepared ones, from memory. It looks a token up,
 * checks what it is sent by a schema, and sends the same bodies and headers; it keeps nothing on a disk.
 */
const { token, responses, beneficiaryHeaders } = (await Bun.file(process.argv[2] ?? '').json()) as Preparation
const clients = new Map([[`Bearer ${token}`, 1]])
const saved: object[] = []

type Headers = Record<string, string | number>

const respond = (asked: string, set: { headers: Headers }) => {
  const prepared = responses[asked]
  if (!prepared) return status(404)
  Object.assign(set.headers, prepared.headers, { 'x-request-id': `req_floor_${saved.length}` })
  return prepared.body
}

const app = new Elysia()
  .derive(({ request }) => ({ clientId: clients.get(request.headers.get('authorization') ?? '') }))
  .onBeforeHandle(({ clientId }) => {
    if (clientId === undefined) return status(401)
  })
  .get('/api/v1/countries', ({ set }) => respond('/api/v1/countries', set))
  .get('/api/v1/countries/:id', ({ params: { id }, set }) => respond(`/api/v1/countries/${id}`, set), {
    params: t.Object({ id: t.Number() }),
  })
  .get('/api/v1/products', ({ query: { limit }, set }) => respond(`/api/v1/products?limit=${limit}`, set), {
    query: t.Object({ limit: t.Number() }),
  })
  .post(
    '/api/v1/products/:id/charges',
    ({ params: { id }, body, set }) => respond(`/api/v1/products/${id}/charges ${JSON.stringify(body)}`, set),
    {
      params: t.Object({ id: t.Number() }),
      body: t.Object({ denomination: t.Number({ minimum: 0.01 }), quantity: t.Number({ minimum: 1 }) }),
    },
  )
  .post(
    BENEFICIARIES,
    ({ body, set }) => {
      const created = {
        id: `ben_${String(saved.length).padStart(25, '0')}`,
        ...body,
        total_payouts: 0,
        total_amount: 0,
        last_payout_at: null,
        created_at: new Date().toISOString(),
      }
      saved.push(created)
      set.status = 201
      Object.assign(set.headers, beneficiaryHeaders)
      return JSON.stringify(created)
    },
    {
      body: t.Object({
        email: t.String({ format: 'email' }),
        first_name: t.String(),
        last_name: t.String(),
        country: t.String(),
        phone: t.String(),
        metadata: t.Record(t.String(), t.Unknown()),
      }),
    },
  )

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch })
process.stdout.write(`ready url=http://127.0.0.1:${server.port}\n`)
