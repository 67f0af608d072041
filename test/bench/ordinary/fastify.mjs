import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import jwt from 'jsonwebtoken'

/**
 * What Scrip is compared with: the same requests on the same data as a team would answer them that knows Fastify and
 * better-sqlite3 and does not think of speed. A query is a query, an answer is made when it is asked for, a token is
 * verified with each request.
 */

/** @type {{ databasePath: string, publicUrl: string }} */
const { databasePath, publicUrl } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))

const SECRET = 'a secret of thirty-two characters'
const CONVERSION_BASIS_POINTS = 50
const RATE_ONE = 100_000_000

const db = new Database(databasePath)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')

const findClient = db.prepare('SELECT id, password_sha256 FROM clients WHERE username = ? AND disabled = 0')
const allCountries = db.prepare('SELECT * FROM countries ORDER BY id')
const oneCountry = db.prepare('SELECT * FROM countries WHERE id = ?')
const countProducts = db.prepare('SELECT count(*) AS total FROM products WHERE active = 1')
const pageOfProducts = db.prepare(`
  SELECT p.*, c.alpha_3 AS country_code, m.currency AS currency_code, m.precision
  FROM products p JOIN countries c ON c.id = p.country_id JOIN currencies m ON m.id = p.currency_id
  WHERE p.active = 1 ORDER BY p.id DESC LIMIT ? OFFSET ?
`)
const oneProduct = db.prepare(`
  SELECT p.*, m.currency AS currency_code, m.precision
  FROM products p JOIN currencies m ON m.id = p.currency_id WHERE p.active = 1 AND p.id = ?
`)
const bandsOfProducts = db.prepare(`
  SELECT * FROM product_bands WHERE product_id IN (SELECT value FROM json_each(?)) ORDER BY product_id, position
`)
const payingWallet = db.prepare(`
  SELECT w.*, m.currency AS currency_code, m.precision
  FROM wallets w JOIN currencies m ON m.id = w.currency_id
  WHERE w.client_id = @clientId AND (w.currency_id = @currencyId OR w.is_default = 1)
  ORDER BY w.currency_id = @currencyId DESC, w.id LIMIT 1
`)
const oneRate = db.prepare('SELECT per_base_e8 FROM exchange_rates WHERE currency = ?').pluck()
const insertBeneficiary = db.prepare(`
  INSERT INTO beneficiaries VALUES (
    @id, @clientId, @email, @firstName, @lastName, @emailFolded, @firstNameFolded, @lastNameFolded, @country, @phone,
    @metadata, 0, 0, NULL, @createdAtMs
  )
`)

const app = Fastify()

app.addHook('onRequest', async (request, reply) => {
  if (request.url === '/auth/login') return
  try {
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '')
    request.clientId = Number(jwt.verify(token, SECRET, { algorithms: ['HS256'] }).sub)
  } catch {
    return reply.code(401).send({ error: { code: 'unauthorized', message: 'Log in first' } })
  }
})

app.post('/auth/login', async (request, reply) => {
  const { username, password } = request.body
  const client = findClient.get(username)
  if (client?.password_sha256 !== createHash('sha256').update(password).digest('hex')) return reply.code(401).send()
  return { access_token: jwt.sign({}, SECRET, { subject: String(client.id), expiresIn: '1h' }) }
})

app.get('/api/v1/countries', async () => allCountries.all())

app.get('/api/v1/countries/:id', async (request, reply) => oneCountry.get(request.params.id) ?? reply.code(404).send())

const PageQuery = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, default: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 50 },
  },
}

app.get('/api/v1/products', { schema: { querystring: PageQuery } }, async (request, reply) => {
  const { page, limit } = request.query
  const { total } = countProducts.get()
  const rows = pageOfProducts.all(limit, (page - 1) * limit)
  const bands = new Map(rows.map(({ id }) => [id, []]))
  for (const band of bandsOfProducts.all(JSON.stringify([...bands.keys()]))) bands.get(band.product_id).push(band)
  reply.headers({
    'x-page': page,
    'x-per-page': limit,
    'x-total-count': total,
    'x-total-pages': Math.ceil(total / limit),
    'x-page-size': rows.length,
    'x-has-more': page * limit < total,
  })
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    category: row.category,
    sub_category: row.sub_category,
    country_code: row.country_code,
    currency_code: row.currency_code,
    image_url: row.image_url ?? `${publicUrl}/cards/${row.id}`,
    delivery_mode: row.delivery_mode,
    delivery_time: row.delivery_time,
    validity: row.validity,
    available_denominations: bands.get(row.id).map((band) => ({
      min_value: band.min_minor / 10 ** row.precision,
      max_value: band.max_minor / 10 ** row.precision,
      discount: band.discount_basis_points / 100,
    })),
  }))
})

const ChargesBody = {
  type: 'object',
  required: ['denomination', 'quantity'],
  properties: { denomination: { type: 'number', minimum: 0.01 }, quantity: { type: 'integer', minimum: 1 } },
}

app.post('/api/v1/products/:id/charges', { schema: { body: ChargesBody } }, async (request, reply) => {
  const { denomination, quantity } = request.body
  const product = oneProduct.get(request.params.id)
  if (!product) return reply.code(404).send({ error: { code: 'not_found' } })
  const scale = 10 ** product.precision
  const minor = Math.round(denomination * scale)
  const offers = bandsOfProducts
    .all(JSON.stringify([product.id]))
    .filter((band) => minor >= band.min_minor && minor <= band.max_minor)
  if (offers.length === 0 || quantity > product.quantity_max) {
    return reply.code(400).send({ error: { code: 'not_offered' } })
  }
  const discountBasisPoints = Math.max(...offers.map((band) => band.discount_basis_points))
  const wallet = payingWallet.get({ clientId: request.clientId, currencyId: product.currency_id })
  const isSame = wallet.currency_id === product.currency_id
  const rate = isSame
    ? 1
    : Math.round((oneRate.get(wallet.currency_code) / oneRate.get(product.currency_code)) * RATE_ONE) / RATE_ONE
  const listMinor = minor * quantity
  const discountMinor = Math.round((listMinor * discountBasisPoints) / 10_000)
  const totalMinor = listMinor - discountMinor
  const walletScale = 10 ** wallet.precision
  const netMinor = Math.round((totalMinor / scale) * rate * walletScale)
  const gstMinor = Math.round((netMinor * product.gst_basis_points) / 10_000)
  const fixedMinor = (product.fee_fixed_minor / scale) * rate * walletScale
  const feeMinor = Math.round(fixedMinor + (netMinor * product.fee_basis_points) / 10_000)
  const conversionMinor = isSame ? 0 : Math.round((netMinor * CONVERSION_BASIS_POINTS) / 10_000)
  return {
    non_discounted_total: listMinor / scale,
    discount_amount: discountMinor / scale,
    total_amount: totalMinor / scale,
    discount: discountBasisPoints / 100,
    gst_amount: gstMinor / walletScale,
    total_payable: (netMinor + gstMinor + feeMinor + conversionMinor) / walletScale,
    max_quantity: product.quantity_max,
    net_amount: netMinor / walletScale,
    handling_fee_amount: feeMinor / walletScale,
    charges_details: {
      source_currency: product.currency_code,
      destination_currency: wallet.currency_code,
      forex_rate: isSame ? null : rate,
      conversion_fee: isSame ? null : conversionMinor / walletScale,
    },
  }
})

const BeneficiaryBody = {
  type: 'object',
  required: ['email', 'first_name', 'last_name'],
  properties: {
    email: { type: 'string', format: 'email', maxLength: 254 },
    first_name: { type: 'string', minLength: 1, maxLength: 100 },
    last_name: { type: 'string', minLength: 1, maxLength: 100 },
    country: { type: 'string', minLength: 2, maxLength: 2 },
    phone: { type: 'string' },
    metadata: { type: 'object', additionalProperties: true },
  },
}

app.post('/api/v1/beneficiaries', { schema: { body: BeneficiaryBody } }, async (request, reply) => {
  const { email, first_name, last_name, country = null, phone = null, metadata = {} } = request.body
  const id = `ben_${randomUUID().replaceAll('-', '').slice(0, 25)}`
  const createdAtMs = Date.now()
  insertBeneficiary.run({
    id,
    clientId: request.clientId,
    email,
    firstName: first_name,
    lastName: last_name,
    emailFolded: email.toLowerCase(),
    firstNameFolded: first_name.toLowerCase(),
    lastNameFolded: last_name.toLowerCase(),
    country,
    phone,
    metadata: JSON.stringify(metadata),
    createdAtMs,
  })
  return reply.code(201).send({
    id,
    email,
    first_name,
    last_name,
    country,
    phone,
    metadata,
    total_payouts: 0,
    total_amount: 0,
    last_payout_at: null,
    created_at: new Date(createdAtMs).toISOString(),
  })
})

const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`ready url=${url}\n`)
process.on('SIGTERM', () => process.exit())
