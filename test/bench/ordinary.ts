import { Database } from 'bun:sqlite'
import { createHash, randomUUID } from 'node:crypto'
import { jwt } from '@elysiajs/jwt'
import { and, asc, count, desc, eq, inArray, or } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { Elysia, t } from 'elysia'
import { beneficiaries } from '../../src/beneficiaries/tables.ts'
import { productBands, products } from '../../src/catalog/tables.ts'
import { exchangeRates } from '../../src/charges/tables.ts'
import { countries, currencies } from '../../src/reference/tables.ts'
import { clients } from '../../src/sessions/tables.ts'
import { wallets } from '../../src/wallets/tables.ts'

/**
 * What Scrip is compared with: the same requests on the same data as a team would answer them that knows Elysia and
 * drizzle and does not think of speed. A query for each question, a response made when it is asked for, a token
 * verified with each request.
 */

const { databasePath, publicUrl } = (await Bun.file(process.argv[2] ?? '').json()) as {
  databasePath: string
  publicUrl: string
}

const SECRET = 'a secret of thirty-two characters'
const CONVERSION_BASIS_POINTS = 50
const RATE_ONE = 100_000_000

const sqlite = new Database(databasePath)
sqlite.run('PRAGMA journal_mode = WAL')
sqlite.run('PRAGMA synchronous = FULL')
const db = drizzle({ client: sqlite })

const countryWire = (country: typeof countries.$inferSelect) => ({
  id: country.id,
  name: country.name,
  official_name: country.officialName,
  alpha_2: country.alpha2,
  alpha_3: country.alpha3,
  numeric_code: country.numericCode,
  dialing_prefix: country.dialingPrefix,
})

const rateOf = (currency: string): number => {
  const row = db.select().from(exchangeRates).where(eq(exchangeRates.currency, currency)).get()
  if (!row) throw new Error(`no rate for ${currency}`)
  return row.perBaseE8
}

const app = new Elysia()
  .use(jwt({ name: 'jwt', secret: SECRET, exp: '1h' }))
  .post(
    '/auth/login',
    async ({ body, jwt, status }) => {
      const client = db.select().from(clients).where(eq(clients.username, body.username)).get()
      const digest = createHash('sha256').update(body.password).digest('hex')
      if (client?.passwordSha256 !== digest) return status(401, { error: { code: 'credentials_wrong' } })
      return { access_token: await jwt.sign({ sub: String(client.id) }) }
    },
    { body: t.Object({ username: t.String(), password: t.String() }) },
  )
  .resolve(async ({ headers, jwt, status }) => {
    const claims = await jwt.verify(headers.authorization?.replace(/^Bearer /, ''))
    if (!claims) return status(401, { error: { code: 'unauthorized' } })
    return { clientId: Number(claims.sub) }
  })
  .get('/api/v1/countries', () => db.select().from(countries).orderBy(asc(countries.id)).all().map(countryWire))
  .get(
    '/api/v1/countries/:id',
    ({ params, status }) => {
      const country = db.select().from(countries).where(eq(countries.id, params.id)).get()
      return country ? countryWire(country) : status(404, { error: { code: 'not_found' } })
    },
    { params: t.Object({ id: t.Number() }) },
  )
  .get(
    '/api/v1/products',
    ({ query: { page, limit }, set }) => {
      const total = db.select({ count: count() }).from(products).where(eq(products.active, true)).get()?.count ?? 0
      const rows = db
        .select()
        .from(products)
        .innerJoin(countries, eq(countries.id, products.countryId))
        .innerJoin(currencies, eq(currencies.id, products.currencyId))
        .where(eq(products.active, true))
        .orderBy(desc(products.id))
        .limit(limit)
        .offset((page - 1) * limit)
        .all()
      const ids = rows.map((row) => row.products.id)
      const bands = Map.groupBy(
        db
          .select()
          .from(productBands)
          .where(inArray(productBands.productId, ids))
          .orderBy(asc(productBands.productId), asc(productBands.position))
          .all(),
        ({ productId }) => productId,
      )
      Object.assign(set.headers, {
        'x-page': String(page),
        'x-per-page': String(limit),
        'x-total-count': String(total),
        'x-total-pages': String(Math.ceil(total / limit)),
        'x-page-size': String(rows.length),
        'x-has-more': String(page * limit < total),
      })
      return rows.map(({ products: product, countries: country, currencies: currency }) => ({
        id: product.id,
        name: product.name,
        category: product.category,
        sub_category: product.subCategory,
        country_code: country.alpha3,
        currency_code: currency.currency,
        image_url: product.imageUrl ?? `${publicUrl}/cards/${product.id}`,
        delivery_mode: product.deliveryMode,
        delivery_time: product.deliveryTime,
        validity: product.validity,
        available_denominations: (bands.get(product.id) ?? []).map((band) => ({
          min_value: band.minMinor / 10 ** currency.precision,
          max_value: band.maxMinor / 10 ** currency.precision,
          discount: band.discountBasisPoints / 100,
        })),
      }))
    },
    {
      query: t.Object({
        page: t.Number({ minimum: 1, default: 1 }),
        limit: t.Number({ minimum: 1, maximum: 10_000, default: 50 }),
      }),
    },
  )
  .post(
    '/api/v1/products/:id/charges',
    ({ params, body: { denomination, quantity }, clientId, status }) => {
      const found = db
        .select()
        .from(products)
        .innerJoin(currencies, eq(currencies.id, products.currencyId))
        .where(and(eq(products.id, params.id), eq(products.active, true)))
        .get()
      if (!found) return status(404, { error: { code: 'not_found' } })
      const { products: product, currencies: currency } = found
      const scale = 10 ** currency.precision
      const minor = Math.round(denomination * scale)
      const offers = db
        .select()
        .from(productBands)
        .where(eq(productBands.productId, product.id))
        .all()
        .filter((band) => minor >= band.minMinor && minor <= band.maxMinor)
      if (offers.length === 0 || quantity > product.quantityMax) return status(400, { error: { code: 'not_offered' } })
      const discountBasisPoints = Math.max(...offers.map((band) => band.discountBasisPoints))
      const own = db
        .select()
        .from(wallets)
        .innerJoin(currencies, eq(currencies.id, wallets.currencyId))
        .where(
          and(eq(wallets.clientId, clientId), or(eq(wallets.currencyId, currency.id), eq(wallets.isDefault, true))),
        )
        .all()
      const paying = own.find(({ wallets: wallet }) => wallet.currencyId === currency.id) ?? own[0]
      if (!paying) return status(404, { error: { code: 'wallet_not_found' } })
      const target = paying.currencies
      const isSame = target.id === currency.id
      const rate = isSame ? 1 : Math.round((rateOf(target.currency) / rateOf(currency.currency)) * RATE_ONE) / RATE_ONE
      const listMinor = minor * quantity
      const discountMinor = Math.round((listMinor * discountBasisPoints) / 10_000)
      const totalMinor = listMinor - discountMinor
      const targetScale = 10 ** target.precision
      const netMinor = Math.round((totalMinor / scale) * rate * targetScale)
      const gstMinor = Math.round((netMinor * product.gstBasisPoints) / 10_000)
      const fixedMinor = (product.feeFixedMinor / scale) * rate * targetScale
      const feeMinor = Math.round(fixedMinor + (netMinor * product.feeBasisPoints) / 10_000)
      const conversionMinor = isSame ? 0 : Math.round((netMinor * CONVERSION_BASIS_POINTS) / 10_000)
      return {
        non_discounted_total: listMinor / scale,
        discount_amount: discountMinor / scale,
        total_amount: totalMinor / scale,
        discount: discountBasisPoints / 100,
        gst_amount: gstMinor / targetScale,
        total_payable: (netMinor + gstMinor + feeMinor + conversionMinor) / targetScale,
        max_quantity: product.quantityMax,
        net_amount: netMinor / targetScale,
        handling_fee_amount: feeMinor / targetScale,
        charges_details: {
          source_currency: currency.currency,
          destination_currency: target.currency,
          forex_rate: isSame ? null : rate,
          conversion_fee: isSame ? null : conversionMinor / targetScale,
        },
      }
    },
    {
      params: t.Object({ id: t.Number() }),
      body: t.Object({ denomination: t.Number({ minimum: 0.01 }), quantity: t.Integer({ minimum: 1 }) }),
    },
  )
  .post(
    '/api/v1/beneficiaries',
    ({ body, clientId, set }) => {
      const saved = db
        .insert(beneficiaries)
        .values({
          id: `ben_${randomUUID().replaceAll('-', '').slice(0, 25)}`,
          clientId,
          email: body.email,
          firstName: body.first_name,
          lastName: body.last_name,
          emailLowerCase: body.email.toLowerCase(),
          firstNameLowerCase: body.first_name.toLowerCase(),
          lastNameLowerCase: body.last_name.toLowerCase(),
          searchLowerCase: `${body.email}\n${body.first_name} ${body.last_name}`.toLowerCase(),
          country: body.country ?? null,
          phone: body.phone ?? null,
          metadata: JSON.stringify(body.metadata ?? {}),
          totalPayouts: 0,
          totalAmountMinor: 0,
          lastPayoutAtMs: null,
          createdAtMs: Date.now(),
        })
        .returning()
        .get()
      set.status = 201
      return {
        id: saved.id,
        email: saved.email,
        first_name: saved.firstName,
        last_name: saved.lastName,
        country: saved.country,
        phone: saved.phone,
        metadata: JSON.parse(saved.metadata),
        total_payouts: saved.totalPayouts,
        total_amount: saved.totalAmountMinor,
        last_payout_at: saved.lastPayoutAtMs,
        created_at: new Date(saved.createdAtMs).toISOString(),
      }
    },
    {
      body: t.Object({
        email: t.String({ format: 'email', maxLength: 254 }),
        first_name: t.String({ minLength: 1, maxLength: 100 }),
        last_name: t.String({ minLength: 1, maxLength: 100 }),
        country: t.Optional(t.String({ minLength: 2, maxLength: 2 })),
        phone: t.Optional(t.String()),
        metadata: t.Optional(t.Record(t.String(), t.Unknown())),
      }),
    },
  )
  .listen({ port: 0, hostname: '127.0.0.1' })

process.stdout.write(`ready url=http://127.0.0.1:${app.server?.port}\n`)
