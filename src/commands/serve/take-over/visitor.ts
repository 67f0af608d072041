import type { Respond } from '../../../http/listen.ts'
import type { Reference } from '../../../reference/reference.ts'
import { type Credentials, passwordDigest } from '../../../sessions/credentials.ts'
import { addClient } from '../../../sessions/queries.ts'
import { walletsOf } from '../../../wallets/queries.ts'
import { seedWallets } from '../../../wallets/seed.ts'
import type { World } from '../../../worlds/world.ts'

/**
 * A client of the copy on which a server tries to start, who asks for what clients ask for. Code that runs for the first time
 * takes several times as long: otherwise the requests that wait for the new server would wait for that, too.
 */

/** No client has a name with a space. */
const USERNAME = 'scrip serve --take-over'
const PASSWORD_LENGTH = 32
const CURRENCY = 'USD'
const BALANCE = 1_000
/** How often each request is sent. */
const VISITS = 2
const READ = [
  ...['/status', '/readyz', '/api/v1/wallets', '/api/v1/beneficiaries', '/api/v1/orders', '/api/v1/payouts'],
  ...['/api/v1/transactions', '/api/v1/events', '/api/v1/countries', '/api/v1/currencies', '/api/v1/categories'],
]
const EMAIL = 'ada@example.com'
const PERSON = { first_name: 'Ada', last_name: 'Lovelace' }

interface Visitor extends Credentials {
  walletId: number
}

export const addVisitor = ({ db, clock, ids }: World, reference: Reference): Visitor => {
  const password = ids.letters(PASSWORD_LENGTH)
  const nowMs = clock.nowMs()
  return db.fill((tx) => {
    const clientId = addClient(tx, USERNAME, passwordDigest(password), nowMs)
    seedWallets(tx, reference, [{ clientId, currency: CURRENCY, amount: BALANCE }], nowMs)
    const [wallet] = walletsOf(tx, { clientId })
    return { username: USERNAME, password, walletId: wallet?.id ?? 0 }
  })
}

interface Product {
  id: number
  available_denominations: readonly { min_value: number }[]
}

/** Whether a request is refused does not matter: a product may have no codes. */
export const visit = async (respond: Respond, host: string, token: string, { walletId }: Visitor): Promise<void> => {
  const ask = async (path: string, body?: object): Promise<string> => {
    const written = body && { method: 'POST', body: JSON.stringify(body) }
    const request = new Request(host + path, { headers: { authorization: `Bearer ${token}` }, ...written })
    return (await respond(request)).text()
  }
  for (let number = 0; number < VISITS; number++) {
    for (const path of READ) await ask(path)
    await ask('/api/v1/beneficiaries', { email: EMAIL, ...PERSON })
    await ask('/api/v1/payouts', payoutOf(walletId, number))
    const product = firstOf(JSON.parse(await ask('/api/v1/products?limit=1')))
    const bought = { denomination: product?.available_denominations[0]?.min_value, quantity: 1 }
    await ask(`/api/v1/products/${product?.id}/charges`, bought)
    await ask('/api/v1/orders', { product_id: product?.id, ...bought })
  }
}

/** Undefined as well for an error, such as that of a rate limit. */
const firstOf = (products: Product[] | object): Product | undefined =>
  Array.isArray(products) ? products[0] : undefined

const payoutOf = (walletId: number, number: number) => ({
  reference_id: `rehearsal-${number}`,
  wallet_id: walletId,
  amount: 1,
  currency: CURRENCY,
  beneficiary_email: EMAIL,
  beneficiary_first_name: PERSON.first_name,
  beneficiary_last_name: PERSON.last_name,
})
