import { describe, expect, test } from 'bun:test'
import { lookup } from 'node:dns/promises'
import { BlockList } from 'node:net'
import { hostname } from 'node:os'
import { addNetwork } from '../../src/http/client-address.ts'
import { isAllowed, receiverProblem, rulesFor } from '../../src/webhooks/addresses.ts'

const rules = (isLocal: boolean, ...networks: string[]) => {
  const allowed = new BlockList()
  for (const network of networks) addNetwork(allowed, network)
  return { isLocal, loopback: isLocal ? ('any' as const) : ('none' as const), allowed }
}
const LIVE = rules(false)
const SANDBOX = rules(true)
const UNREACHABLE = 'must not lead to a private, reserved or unknown address'

describe('In live mode', () => {
  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '100.63.255.255',
    '172.32.0.1',
    '192.169.0.1',
    '223.255.255.255',
    '2606:4700::1111',
  ])('%s is a receiver', (address) => expect(isAllowed(address, LIVE)).toBe(true))

  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '100::1',
    '5f00::1',
    '::ffff:0:127.0.0.1',
  ])('%s is not a receiver', (address) => expect(isAllowed(address, LIVE)).toBe(false)) // prettier-ignore

  test.each([
    'https://127.1/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://2130706433/',
    'https://127.0.0.1./',
    'https://１２７.０.０.１/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://does-not-exist.invalid/',
    'https://169.254.169.254/latest/',
    'https://0/',
  ])('%s is refused', async (url) => expect(await receiverProblem(url, LIVE)).toBe(UNREACHABLE)) // prettier-ignore

  test.each(['http://8.8.8.8/', 'ftp://8.8.8.8/', 'hooks', '//8.8.8.8/', 'javascript:alert(1)', 'https://', ''])(
    '%p is not an https URL',
    async (url) => expect(await receiverProblem(url, LIVE)).toBe('must be an https URL of at most 2048 characters'),
  )

  test.each([
    'https://user@8.8.8.8/',
    'https://:secret@8.8.8.8/',
    'https://user:secret@8.8.8.8/',
    'https://@8.8.8.8/',
    'https://:@8.8.8.8/',
    'HTTPS:\\\\:@8.8.8.8/',
    'https:@8.8.8.8',
    'https://a@b@8.8.8.8?x',
  ])('%s has credentials, which may be empty', async (url) =>
    expect(await receiverProblem(url, LIVE)).toBe('must not contain credentials'),
  )

  test.each([
    'https://8.8.8.8\\@evil.example:1@8.8.8.8/',
    'https://8.8.8.8/@a',
    'https://8.8.8.8?a@b',
    'https://8.8.8.8#a@b',
  ])('%s has none', async (url) => expect(await receiverProblem(url, LIVE)).toBeUndefined())

  test.each([
    'https://8.8.8.8/a\r\nHost: evil',
    'https://8.8.8.8/\t',
    'https://8.8.\n8.8/',
    'https://:\t@8.8.8.8/',
    ' https://8.8.8.8/',
    'https://8.8.8.8/ ',
    'https://8.8.8.8/a b',
    'https://8.8.8.8/\u0000',
    'https://8.8.8.8/\u0085',
  ])('%j has a space or a control character', async (url) =>
    expect(await receiverProblem(url, LIVE)).toBe('must not contain spaces or control characters'),
  )

  test('a port of 0 is refused', async () => {
    expect(await receiverProblem('https://8.8.8.8:0/', LIVE)).toBe('must not have the port 0')
  })

  test('--webhook-allow opens more addresses, and not http', async () => {
    const opened = rules(false, '10.1.0.0/16', 'fd00::/8')
    expect(await receiverProblem('https://10.1.2.3/', opened)).toBeUndefined()
    expect(await receiverProblem('https://[fd00::1]/', opened)).toBeUndefined()
    expect(await receiverProblem('https://10.2.0.1/', opened)).toBe(UNREACHABLE)
    expect(await receiverProblem('http://10.1.2.3/', opened)).toBe('must be an https URL of at most 2048 characters')
  })
})

/** Some machines have their own name for this address. */
const hostAddress = await lookup(hostname()).catch(() => undefined)

describe('In a sandbox that others reach', () => {
  const reached = { ...SANDBOX, loopback: 'written' as const }

  test.each(['http://127.0.0.1:3000/', 'http://[::1]/', 'http://127.1/', 'http://LOCALHOST./', 'http://a.localhost/'])(
    '%s is a receiver for clients on this machine, and for nobody else',
    async (url) => {
      // Not every system resolves each of these names.
      expect([undefined, UNREACHABLE]).toContain(await receiverProblem(url, reached))
      for (const address of ['10.0.0.9', '203.0.113.9', '2001:db8::1', ''])
        expect(await receiverProblem(url, rulesFor(reached, address))).toBe(UNREACHABLE)
      for (const address of ['127.0.0.1', '::1'])
        expect(await receiverProblem(url, rulesFor(reached, address))).toBe(await receiverProblem(url, reached))
    },
  )

  test('127.0.0.1 is written in the URL', async () => {
    expect(await receiverProblem('http://127.0.0.1/', reached)).toBeUndefined()
  })

  test('a network of --webhook-allow is open to everybody', async () => {
    const opened = { ...rules(true, '127.0.0.0/8', '10.0.0.0/8'), loopback: 'written' as const }
    for (const url of ['http://127.0.0.1/', 'http://10.1.2.3/'])
      expect(await receiverProblem(url, rulesFor(opened, '10.0.0.9'))).toBeUndefined()
  })

  test.skipIf(!hostAddress?.address.startsWith('127.'))('a name that leads to it is not a receiver', async () => {
    const url = `http://${hostname()}/`
    expect(await receiverProblem(url, SANDBOX)).toBeUndefined()
    expect(await receiverProblem(url, reached)).toBe(UNREACHABLE)
  })
})

describe('In the sandbox', () => {
  test.each([
    'http://127.0.0.1:3000/hooks',
    'https://127.9.9.9/',
    'http://[::1]:3000/',
    'http://localhost:3000/',
    'http://127.1/',
  ])('%s is a receiver', async (url) => expect(await receiverProblem(url, SANDBOX)).toBeUndefined())

  test.each(['http://10.0.0.1/', 'https://8.8.8.8/', 'http://[fe80::1]/', 'http://0.0.0.0/', 'http://[::]/'])(
    '%s is refused',
    async (url) => expect(await receiverProblem(url, SANDBOX)).toBe(UNREACHABLE),
  )

  test('--webhook-allow opens more, http too', async () => {
    expect(await receiverProblem('http://172.17.0.1/', rules(true, '172.17.0.0/16'))).toBeUndefined()
  })
})
