import type { Receiver } from '../webhooks/webhooks.ts'
import type { Write } from './writes.ts'

/** The rules that the PostgreSQL database satisfies after a storm (contract C18). */

/** Asks PostgreSQL; the rows as text, columns between bars. */
export type Sql = (text: string) => Promise<string[]>

/** The longest pause between events while some are missing. Those of one wallet come one after another, about 100 a second. */
const DELIVERY_MS_MAX = 90_000
const LOOK_MS = 200
const SHOWN = 5

const CHECKS: Readonly<Record<string, string>> = {
  'a beneficiary twice': 'SELECT email FROM scrip.beneficiaries GROUP BY email HAVING count(*) > 1',
  'an order twice': 'SELECT reference FROM scrip.orders GROUP BY reference HAVING count(*) > 1',
  'a payout twice': 'SELECT reference_id FROM scrip.payouts GROUP BY reference_id HAVING count(*) > 1',
  'a payout without its event':
    "SELECT id FROM scrip.payouts WHERE 'payout ' || id NOT IN (SELECT record FROM scrip.events WHERE type = 'payout.created')",
  'an order without its event':
    "SELECT id FROM scrip.orders WHERE 'order ' || id NOT IN (SELECT record FROM scrip.events WHERE type = 'order.created')",
  'commits that do not follow one another':
    'SELECT seq FROM (SELECT seq, epoch, lag(seq) OVER w AS before, lag(epoch) OVER w AS earlier FROM scrip.changes WINDOW w AS (ORDER BY seq)) AS c WHERE seq <> before + 1 OR epoch < earlier',
}

/** @param funded the number of commands that have funded a wallet */
export const faultsOfRows = async (sql: Sql, funded: number): Promise<string[]> => {
  const commands = `SELECT count(*) FROM scrip.transactions WHERE source_type = 'funding' HAVING count(*) < ${funded}`
  const found: string[] = []
  for (const [name, text] of Object.entries({ ...CHECKS, 'fewer commands than succeeded': commands })) {
    const rows = await sql(text)
    if (rows.length > 0) found.push(`${name}: ${rows.slice(0, SHOWN).join(' ')}`)
  }
  return found
}

const NAMES: Readonly<Record<Write['kind'], string>> = {
  beneficiaries: "split_part(r ->> 'email', '@', 1)",
  orders: "r ->> 'reference'",
  payouts: "r ->> 'reference_id'",
}

/** True if two servers have acknowledged writes of one epoch. @param makers the process that acknowledged a write, by its name */
export const faultsOfEpochs = async (sql: Sql, makers: ReadonlyMap<string, number>): Promise<string[]> => {
  const servers = new Map<string, Set<number>>()
  let known = 0
  for (const [kind, name] of Object.entries(NAMES)) {
    const rows = await sql(
      `SELECT DISTINCT ON (1) ${name}, epoch FROM scrip.changes, json_array_elements(rows -> '${kind}') AS r ORDER BY 1, seq`,
    )
    for (const row of rows) {
      const [write = '', epoch = ''] = row.split('|')
      const maker = makers.get(write)
      if (maker === undefined) continue
      known += 1
      servers.set(epoch, (servers.get(epoch) ?? new Set()).add(maker))
    }
  }
  const found = [...servers]
    .filter(([, { size }]) => size > 1)
    .map(([epoch]) => `two servers acknowledge in epoch ${epoch}`)
  if (known < makers.size) found.push(`${makers.size - known} acknowledged writes are in no commit`)
  return found
}

/** Waits until all events have come to the receiver. @param after the last event before there was a webhook */
export const lostEvents = async (sql: Sql, after: string, { received }: Receiver): Promise<string[]> => {
  const ids = await sql(`SELECT event_id FROM scrip.events WHERE id > ${after} ORDER BY id`)
  let before = ids.length
  let sinceMs = performance.now()
  for (;;) {
    const seen = new Set(received.map(({ event }) => event.id))
    const missing = ids.filter((id) => !seen.has(id))
    if (missing.length === 0) return []
    if (missing.length < before) sinceMs = performance.now()
    before = missing.length
    if (performance.now() > sinceMs + DELIVERY_MS_MAX)
      return [
        `${missing.length} of ${ids.length} events have not come, and none came for ${DELIVERY_MS_MAX / 1_000} s: ${missing.slice(0, SHOWN)}`,
      ]
    await Bun.sleep(LOOK_MS)
  }
}
