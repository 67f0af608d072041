import fc from 'fast-check'
import { structured } from '../../errors.ts'
import { ADA } from '../../records.ts'
import { invalid } from '../expect.ts'
import { created } from './beneficiaries.ts'
import { command, whoever } from './command.ts'
import { once } from './once.ts'
import { ask } from './sessions.ts'

/** What is odd and lawful, and what is odd and is not (contract C4). */

/** With the three members, the object and the array it makes the 10,000 values that a body may have. */
const MANY = { ...ADA, more: Array.from({ length: 9_995 }, () => 1) }
const UNKNOWN_ROUTES = ['/api/v1/nowhere', '/api/v1', '/api/v1/products/1/2/3', '/nowhere', '/api/v2/products', '/%00']

/** Metadata that JSON cannot keep as it was sent, or that it can. */
const NUMBERS: readonly [string, boolean][] = [
  ['1e400', false],
  ['-1e400', false],
  ['12345678901234567890', false],
  ['9007199254740993', false],
  ['9007199254740992', true],
  ['0.1', true],
  ['1e-400', true],
  ['-0', true],
]

export const sundryCommands = [
  command('send as many values as there may be', ['createBeneficiary'], 1, {
    args: fc.record({ who: whoever, key: fc.constantFrom(undefined, 'many values') }),
    run: (play, { who, key }) => once(play, who, { operation: 'createBeneficiary', body: MANY }, key, created(ADA)),
  }),
  command('send metadata with a number', ['createBeneficiary'], 1, {
    args: fc.record({ who: whoever, nth: fc.nat(NUMBERS.length - 1) }),
    run: async (play, { who, nth }) => {
      const [number, isKept] = NUMBERS[nth] ?? ['1', true]
      const text = `${JSON.stringify(ADA).slice(0, -1)},"metadata":{"n":${number}}}`
      const sent = { ...ADA, metadata: { n: Number(number) } }
      await ask(play, who, { operation: 'createBeneficiary', text }, (at) => {
        if (!isKept) return invalid('flat', ['metadata'])
        return created(Object.is(sent.metadata.n, -0) ? { ...ADA, metadata: { n: 0 } } : sent)(at)
      })
    },
  }),
  command('name a request', ['listCurrencies'], 1, {
    args: fc.record({ who: whoever, name: fc.constantFrom('mine-1', 'x'.repeat(64)) }),
    run: async (play, { who, name }) => {
      await ask(play, who, { operation: 'listCurrencies', headers: { 'x-request-id': name } }, () => ({ status: 200 }))
    },
  }),
  command('ask for a route that there is not', [], 1, {
    args: fc.record({
      who: whoever,
      path: fc.constantFrom(...UNKNOWN_ROUTES),
      method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH'),
    }),
    run: async (play, { who, path, method }) => {
      const access = play.tokenOf(who)
      const isProtected = path.startsWith('/api/v1')
      if ((play.model.limits !== undefined && isProtected) || isStruckAnywhere(play)) return
      play.lines.push(`${method} ${path}`)
      const response = await play.program.ask(path, {
        method,
        headers: access === undefined ? {} : { authorization: `Bearer ${access}` },
      })
      const call = { operation: 'getStatus' }
      const isKnown = access !== undefined && play.isAlive(access)
      if (isProtected && !isKnown) return play.compare(call, response, { status: 401 })
      play.compare(call, response, { status: 404, body: structured('NotFoundError', 'NOT_FOUND', 'Route not found') })
    },
  }),
]
const isStruckAnywhere = ({ model }: { model: { worlds: Map<string, { faults: unknown[] }> } }): boolean =>
  [...model.worlds.values()].some(({ faults }) => faults.length > 0)
