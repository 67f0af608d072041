import { BlockList, isIP } from 'node:net'
import { addNetwork } from '../http/client-address.ts'

/** Where deliveries may go (contract C16): an own address list, because a receiver must be no way into the network. */

const listOf = (...networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) addNetwork(list, network)
  return list
}

const LOOPBACK = listOf('127.0.0.0/8', '::1')

/** IPv4 addresses that are none of a public receiver (IANA special-purpose registry). */
const SPECIAL_V4 = listOf(
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared
  '127.0.0.0/8', // loopback
  '168.63.129.16', // a metadata service with a public address
  '169.254.0.0/16', // link-local, and most metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays from IPv6
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
)
/** The only IPv6 addresses that are assigned to the public... */
const GLOBAL_V6 = listOf('2000::/3')
/** ...but for protocols and documentation. */
const SPECIAL_V6 = listOf('2001::/23', '2001:db8::/32', '3fff::/20')

export interface AddressRules {
  /** Whether receivers are on this machine instead of the public network. They may speak plain http. */
  isLocal: boolean
  /**
   * Whether a receiver can be on this machine: for whoever is on it, too. `written` is for a server that others reach, and
   * means that the URL says so, because they can change what another name leads to.
   */
  loopback: 'any' | 'written' | 'none'
  /** Networks of `--webhook-allow`. */
  allowed: BlockList
}

/** Why a URL is refused as the receiver of a webhook; undefined if it is none. */
type UrlProblem = string | undefined

const NOT_REACHABLE = 'must not lead to a private, reserved or unknown address'

const URL_LENGTH_MAX = 2_048
/** The parser leaves some of them out, and would read another URL than the one that is stored. */
const UNWRITTEN = /[\s\p{Cc}]/u
/** Empty credentials are none to the parser. A backslash is a slash to it. */
const USERINFO = /^[a-z]+:[\\/]*[^\\/?#]*@/i

/** What is wrong with a URL, before its name is looked up. */
const urlProblem = (text: string, { isLocal }: AddressRules): UrlProblem => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const schemes = isLocal ? ['https:', 'http:'] : ['https:']
  if (!url || !schemes.includes(url.protocol) || text.length > URL_LENGTH_MAX) {
    return `must be ${isLocal ? 'an http or https' : 'an https'} URL of at most ${URL_LENGTH_MAX} characters`
  }
  if (UNWRITTEN.test(text)) return 'must not hold spaces or control characters'
  if (USERINFO.test(text)) return 'must not hold credentials'
  if (url.port === '0') return 'must not have the port 0'
  return undefined
}

const LOCALHOST = /(?:^|\.)localhost\.?$/i

/** Whether an address or a name, without a look at what it leads to, is this machine. */
const namesLoopback = (host: string): boolean => LOCALHOST.test(host) || isIn(LOOPBACK, host)

/** Where the receivers of a server may be. */
export const rulesOf = (config: { host: string; webhookNetworks: BlockList }, isLocal: boolean): AddressRules => {
  const loopback = isLocal ? (namesLoopback(config.host) ? 'any' : 'written') : 'none'
  return { isLocal, loopback, allowed: config.webhookNetworks }
}

/** The same for somebody who is not on this machine, by an address or a name: its network is none of theirs (decision 72). */
export const rulesFor = (rules: AddressRules, address: string): AddressRules =>
  namesLoopback(address) ? rules : { ...rules, loopback: 'none' }

/** The host of a URL without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/**
 * The addresses that a URL leads to, each of which is allowed. Undefined if one is not, or the name is unknown.
 * To be asked again at each connection, which goes to one of them: a name may change its addresses in between.
 */
export const findAddresses = async (url: URL, rules: AddressRules): Promise<string[] | undefined> => {
  const host = hostOf(url)
  if (!rules.isLocal && LOCALHOST.test(host)) return undefined
  const addresses = isIP(host) === 0 ? await resolved(host) : [host]
  const own = rules.loopback === 'written' ? rulesFor(rules, host) : rules
  return addresses.length > 0 && addresses.every((address) => isAllowed(address, own)) ? addresses : undefined
}

/** @throws nothing: a name that cannot be looked up has no addresses */
const resolved = async (name: string): Promise<string[]> => {
  try {
    const { lookup } = await import('node:dns/promises') // loaded on first use, because it delays the start
    return (await lookup(name, { all: true })).map(({ address }) => address)
  } catch {
    return []
  }
}

/** Why a URL cannot be the receiver of a webhook now. */
export const receiverProblem = async (text: string, rules: AddressRules): Promise<UrlProblem> =>
  urlProblem(text, rules) ?? ((await findAddresses(new URL(text), rules)) ? undefined : NOT_REACHABLE)

export const isAllowed = (address: string, { isLocal, loopback, allowed }: AddressRules): boolean => {
  const plain = embeddedV4(address) ?? address
  if (isIn(allowed, plain)) return true
  if (isLocal) return loopback !== 'none' && isIn(LOOPBACK, plain)
  if (isIP(plain) === 4) return !isIn(SPECIAL_V4, plain)
  return isIn(GLOBAL_V6, plain) && !isIn(SPECIAL_V6, plain)
}

const isIn = (networks: BlockList, address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && networks.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Where the groups of an IPv6 address hold an IPv4 address: mapped, compatible, translated (NAT64), and 6to4. */
const EMBEDDINGS: readonly { prefix: readonly number[]; at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 },
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x2002], at: 1 },
]

/** The IPv4 address that an IPv6 address stands for, if it does. */
const embeddedV4 = (address: string): string | undefined => {
  if (isIP(address) !== 6) return undefined
  const groups = groupsOf(address)
  const form = EMBEDDINGS.find(({ prefix }) => prefix.every((group, index) => groups[index] === group))
  if (!form) return undefined
  const [high = 0, low = 0] = groups.slice(form.at, form.at + 2)
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight groups of an IPv6 address; a URL writes it in its shortest form, without dots. */
const groupsOf = (address: string): number[] => {
  const [head = '', tail] = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1).split('::')
  const read = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [before, after] = [read(head), read(tail ?? '')]
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}
