import { describe, expect, test } from 'bun:test'
import { brokenInvariants } from './ledger.ts'
import { inFolder, loggedIn, type Running, start } from './program.ts'

/** Kills the program in the middle of a write storm, again and again, and holds it to what it had acknowledged. */

/** More of them: `TEST_ROUNDS=50 npm test -- crash`. */
const ROUNDS = Number(process.env.TEST_ROUNDS ?? 2)
const WRITERS = 8
/** How many writes are acknowledged before the kill: another number each round, so that it falls elsewhere. */
const acknowledgedBeforeKill = (round: number): number => 40 + round * 37

type Kind = 'beneficiaries' | 'orders' | 'payouts'
const KINDS: readonly Kind[] = ['beneficiaries', 'orders', 'payouts']

interface Write {
  kind: Kind
  key: string
  body: string
}

interface Acknowledged extends Write {
  status: number
  answer: string
}

const writeOf = (key: string, index: number): Write => {
  const kind = KINDS[index % KINDS.length] ?? 'beneficiaries'
  const person = { email: `${key}@example.com`, first_name: 'Ada', last_name: 'Lovelace' }
  const bodies: Record<Kind, object> = {
    beneficiaries: person,
    // Every other order is too many for an instant delivery, so that due work is interrupted too.
    orders: { product_id: 1, denomination: 100, quantity: index % 2 === 0 ? 1 : 6, client_reference: key },
    payouts: {
      reference_id: key,
      wallet_id: 1,
      amount: 1.5,
      currency: 'EUR',
      beneficiary_email: person.email,
      beneficiary_first_name: person.first_name,
      beneficiary_last_name: person.last_name,
    },
  }
  return { kind, key, body: JSON.stringify(bodies[kind]) }
}

const send = (program: Running, token: string, { kind, key, body }: Write): Promise<Response> =>
  program.request(`/api/v1/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
    body,
  })

/** Writes from several connections until enough was acknowledged, then kills; answers what was, and what was not. */
const storm = async (program: Running, token: string, round: number) => {
  const acknowledged: Acknowledged[] = []
  const unanswered: Write[] = []
  let sent = 0
  const writer = async (): Promise<void> => {
    for (;;) {
      const write = writeOf(`round-${round}-${++sent}`, sent)
      try {
        const response = await send(program, token, write)
        acknowledged.push({ ...write, status: response.status, answer: await response.text() })
      } catch {
        unanswered.push(write)
        return
      }
      if (acknowledged.length === acknowledgedBeforeKill(round)) program.signal('SIGKILL')
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  return { acknowledged, unanswered }
}

/** One round: a storm, a kill, and a recovery that is asked for everything again. */
const survive = async (dataDir: string, round: number): Promise<void> => {
  const flags = ['--data-dir', dataDir, '--rate-limit', 'off', '--log-level', 'warn']
  const stormy = await start(flags)
  const { access_token: token } = await loggedIn(stormy)
  const { acknowledged, unanswered } = await storm(stormy, token, round)
  await stormy.ended()
  expect(acknowledged.filter(({ status }) => status >= 400)).toEqual([])
  expect(brokenInvariants(dataDir)).toEqual([])

  const recovered = await start(flags)
  for (const { status, answer, ...write } of acknowledged) {
    const replay = await send(recovered, token, write)
    expect({ status: replay.status, answer: await replay.text() }).toEqual({ status, answer })
    expect(replay.headers.get('idempotent-replayed')).toBe('true')
  }
  // Whatever became of these, the same key now answers with one effect.
  for (const write of unanswered) {
    const first = await send(recovered, token, write)
    const second = await send(recovered, token, write)
    expect([200, 201]).toContain(first.status)
    expect(await second.text()).toBe(await first.text())
  }
  await recovered.request('/_sandbox/clock', { method: 'POST', body: JSON.stringify({ advance: 'PT10S' }) })
  const headers = { authorization: `Bearer ${token}` }
  for (const open of ['payouts?status=created', 'payouts?status=processing', 'orders?status=PENDING']) {
    expect((await recovered.request(`/api/v1/${open}`, { headers })).headers.get('x-total-count')).toBe('0')
  }
  expect((await recovered.stop()).exitCode).toBe(0)
  expect(brokenInvariants(dataDir)).toEqual([])
}

describe('kill -9 during many writes', () => {
  test(
    'loses no acknowledged write, leaves nothing partial, and due work continues',
    () =>
      inFolder(async (dataDir) => {
        for (let round = 0; round < ROUNDS; round++) await survive(dataDir, round)
      }),
    120_000,
  )
})
