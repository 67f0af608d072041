import { createApp } from '../../../app/app.ts'
import { defaultConfig } from '../../../config/config.ts'
import { servedBy } from '../../../http/operation.ts'
import { HOUR_MS, systemClock } from '../../../kernel/clock.ts'
import { createLog } from '../../../observability/log.ts'
import { assemble } from '../../../start/assemble.ts'
import { type Host, logInTo, type Question } from './host.ts'

const URL = 'http://localhost:4747'

/** It has limits, so that its responses have the headers, but never reaches them. */
const LIMITS = [{ tokens: 1_000_000, refillMs: HOUR_MS }]

/** A record of each kind, so that each kind has a response. */
const RECORDS: readonly Question[] = [
  { method: 'POST', path: '/api/v1/orders', body: { product_id: 1, denomination: 100, quantity: 1 } },
  {
    method: 'POST',
    path: '/api/v1/beneficiaries',
    body: { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace' },
  },
  {
    method: 'POST',
    path: '/api/v1/payouts',
    body: {
      reference_id: 'compare',
      wallet_id: 1,
      amount: 10,
      currency: 'USD',
      beneficiary_email: 'ada@example.com',
      beneficiary_first_name: 'Ada',
      beneficiary_last_name: 'Lovelace',
    },
  },
  {
    method: 'POST',
    path: '/api/v1/webhooks',
    // Nothing of this kind happens here, so nothing is delivered.
    body: { name: 'compare', url: 'http://127.0.0.1:9/', events: ['payout.returned'] },
  },
]

/** Scrip itself, in this process: its responses, and the operations that it serves. */
export const startReference = async () => {
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock: systemClock, write: () => undefined })
  const platform = assemble({ ...defaultConfig(), limits: LIMITS }, systemClock, log)
  const deps = platform.deps({ publicUrl: URL, addressOf: () => '127.0.0.1', isClosing: () => false })
  const { app, handle } = createApp(deps)
  const host: Host = await logInTo(
    URL,
    async (request) => {
      const response = await handle(request)
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    { username: 'sandbox', password: 'sandbox' },
  )
  for (const question of RECORDS) await host.ask(question)
  const operations = servedBy(app).filter(({ operation }) => operation.tag !== 'Sandbox')
  return { host, operations, close: platform.close }
}
