import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BlockList } from 'node:net'
import { Command } from 'commander'
import { withServeOptions } from '../../src/config/options.ts'
import { addNetwork, addressBehind, networkOf } from '../../src/http/client-address.ts'
import { type Server, startServer } from '../harness.ts'

/** Fails to log in by way of proxies, from one client after another. */
const failFrom = async (server: Server, username: string, forwarded: string | undefined): Promise<number> => {
  const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  const body = JSON.stringify({ username, password: 'wrong' })
  return (await server.request('/auth/login', { method: 'POST', headers, body })).status
}

const failTimes = async (times: number, ...login: Parameters<typeof failFrom>): Promise<number[]> => {
  const statuses: number[] = []
  for (let i = 0; i < times; i++) statuses.push(await failFrom(...login))
  return statuses
}

describe('--trusted-proxy', () => {
  let behind: Server
  beforeAll(async () => {
    behind = await startServer('--trusted-proxy', '127.0.0.0/8, 10.0.0.0/8', '--trusted-proxy', '2001:db8::/32')
  })
  afterAll(() => behind.stop())

  test('ten failures of one client behind a proxy do not affect another', async () => {
    expect((await failTimes(11, behind, 'acme', '192.0.2.1')).at(-1)).toBe(429)
    expect(await failFrom(behind, 'acme', '192.0.2.2')).toBe(401)
    expect(await failFrom(behind, 'acme', undefined)).toBe(401)
  })

  test('the address is the last one that is not a trusted proxy, so clients cannot forge it', async () => {
    expect((await failTimes(11, behind, 'bcme', '192.0.2.1')).at(-1)).toBe(429)
    for (const forwarded of [
      '198.51.100.7, 192.0.2.1',
      '198.51.100.7, 192.0.2.1, 10.1.2.3',
      'nonsense, 192.0.2.1,10.1.2.3, 2001:db8::7',
      ' 192.0.2.1 ',
      '192.0.2.1:4711',
      '::ffff:192.0.2.1',
      '[::ffff:192.0.2.1]:4711',
    ]) {
      expect([forwarded, await failFrom(behind, 'bcme', forwarded)]).toEqual([forwarded, 429])
    }
    expect(await failFrom(behind, 'bcme', '192.0.2.1, 192.0.2.2')).toBe(401)
  })

  test('without it the header is ignored', async () => {
    await using server = await startServer()
    for (let i = 0; i < 10; i++) expect(await failFrom(server, 'acme', `192.0.2.${i}`)).toBe(401)
    expect(await failFrom(server, 'acme', '192.0.2.11')).toBe(429)
  })

  test.each([
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/',
    '/8',
    '::1/129',
    'fe80::1%eth0',
    '10.0.0.0/8,',
    '10.0.0.0/8;::1',
  ])('%p is refused', (networks) => {
    const command = withServeOptions(new Command('serve'))
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
    expect(() => command.parse(['--trusted-proxy', networks], { from: 'user' })).toThrow(
      'Networks look like 10.0.0.0/8,fd00::/8.',
    )
  })
})

describe('The address of a request', () => {
  const addressOf = (networks: string[], peer: string, forwarded: string | undefined) => {
    const trusted = new BlockList()
    for (const network of networks) expect(addNetwork(trusted, network)).toBe(true)
    const headers = forwarded === undefined ? undefined : { 'x-forwarded-for': forwarded }
    return addressBehind(trusted, () => peer)(new Request('http://localhost', headers && { headers }))
  }

  test.each<[string[], string, string | undefined, string]>([
    [[], '192.0.2.9', '192.0.2.1', '192.0.2.9'],
    [['10.0.0.1'], '10.0.0.1', '192.0.2.1', '192.0.2.1'],
    [['10.0.0.1'], '10.0.0.2', '192.0.2.1', '10.0.0.2'],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', '192.0.2.1', '192.0.2.1'],
    [['fd00::/8'], 'fd00::1', '2001:DB8::1', '2001:db8::1'],
    [['fd00::/8'], 'fd00::1', '[2001:db8::1]:443', '2001:db8::1'],
    [['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '', '10.0.0.1'],
    // All of them trusted: the first.
    [['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    // An entry that no trusted proxy would write ends the search.
    [['10.0.0.0/8'], '10.0.0.1', '192.0.2.1, unknown', '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '192.0.2.1, , 10.0.0.2', '10.0.0.2'],
    [['0.0.0.0/0'], '10.0.0.1', '192.0.2.1', '192.0.2.1'],
    [['::/0'], 'fd00::1', '192.0.2.1', '192.0.2.1'],
  ])('behind %p, from %s, forwarded for %p, is %s', (networks, peer, forwarded, address) => {
    expect(addressOf(networks, peer, forwarded)).toBe(address)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:DB8:1::6', '2001:db8:1::'],
  ['::1', '::'],
  ['::ffff:192.0.2.1', '::'],
  ['fe80::1%eth0', 'fe80::'],
  ['', ''],
])('%p belongs to %p, as whoever has one address of an IPv6 network has them all', (address, network) =>
  expect(networkOf(address)).toBe(network),
)
