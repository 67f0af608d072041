import { defaultConfig } from '../../../config/config.ts'
import { servedBy } from '../../../http/operation.ts'
import { HOUR_MS, systemClock } from '../../../kernel/clock.ts'
import { createLog } from '../../../observability/log.ts'
import { build } from '../../../start/build.ts'
import { open } from '../../../start/open.ts'
import { logIn } from '../http-client.ts'

const URL = 'http://localhost:4747'

/** It has limits, so that its responses have the headers, but never reaches them. */
const LIMITS = [{ tokens: 1_000_000, refillMs: HOUR_MS }]

/** Such an event never occurs here, so the webhook gets nothing. */
const NEVER = { events: ['payout.returned'] }

/** Scrip itself, in this process: its responses, and the operations that it serves. */
export const startReference = async () => {
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock: systemClock, write: () => undefined })
  const opened = open({ ...defaultConfig(), limits: LIMITS }, systemClock, log)
  const { app, handle } = build(opened, { publicUrl: URL, addressOf: () => '127.0.0.1', isClosing: () => false })
  const host = await logIn(
    { url: URL, send: async (request) => handle(request), advice: '' },
    { username: 'sandbox', password: 'sandbox' },
  )
  const operations = servedBy(app).filter(({ operation }) => operation.tag !== 'Sandbox')
  // A record of each kind, as the documentation has it, so that each kind has a response.
  for (const { method, route, operation } of operations) {
    if (method !== 'POST' || !/^\/api\/v1\/\w+$/.test(route)) continue
    await host.ask({ method, path: route, body: { ...Object(operation.bodyExample), ...NEVER } })
  }
  return { host, operations, close: opened.close }
}
