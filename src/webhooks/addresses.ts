import { type BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The addresses that deliveries may go to (contract C16): a webhook must not give access to the server's network. */

/** The only IPv6 addresses that are assigned to the public. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** A metadata service with a public address. */
const METADATA = '168.63.129.16'

export interface AddressRules {
  /** True if receivers are on this machine instead of the public network. They may use plain http. */
  isLocal: boolean
  /**
   * Decides whether a receiver can be on this machine, where its client must be, too. `written`, for a server that others
   * reach, requires localhost or a loopback address in the URL, because others can change the address of any other name.
   */
  readonly loopback: 'any' | 'written' | 'none'
  /** Networks of `--webhook-allow`. */
  allowed: BlockList
}

/** The reason why a URL is refused as the receiver of a webhook; undefined if it is allowed. */
type UrlProblem = string | undefined

const NOT_REACHABLE = 'must not lead to a private, reserved or unknown address'

const URL_LENGTH_MAX = 2_048
/** The parser drops some of these characters, and would read a different URL from the one that is stored. */
const UNWRITTEN = /[\s\p{Cc}]/u
/** The parser ignores empty credentials, and takes a backslash for a slash. */
const USERINFO = /^[a-z]+:[\\/]*[^\\/?#]*@/i

/** The problem of a URL, before its name is looked up. */
const urlProblem = (text: string, { isLocal }: AddressRules): UrlProblem => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const schemes = isLocal ? ['https:', 'http:'] : ['https:']
  if (!url || !schemes.includes(url.protocol) || text.length > URL_LENGTH_MAX) {
    return `must be ${isLocal ? 'an http or https' : 'an https'} URL of at most ${URL_LENGTH_MAX} characters`
  }
  if (UNWRITTEN.test(text)) return 'must not contain spaces or control characters'
  if (USERINFO.test(text)) return 'must not contain credentials'
  if (url.port === '0') return 'must not have the port 0'
  return undefined
}

const LOCALHOST = /(?:^|\.)localhost\.?$/i

/** True if an address or a name means this machine. The name is not looked up. */
const namesLoopback = (host: string): boolean => LOCALHOST.test(host) || isLoopback(host)

/** The rules for the receivers of a server. */
export const rulesOf = (config: { host: string; webhookNetworks: BlockList }, isLocal: boolean): AddressRules => ({
  isLocal,
  // Computed when it is needed, because the library delays the start.
  get loopback() {
    return isLocal ? (namesLoopback(config.host) ? 'any' : 'written') : 'none'
  },
  allowed: config.webhookNetworks,
})

/** The rules for a client by its address or name. One on another machine cannot use the loopback network (decision 72). */
export const rulesFor = (rules: AddressRules, address: string): AddressRules =>
  namesLoopback(address) ? rules : { ...rules, loopback: 'none' }

/** The host of a URL without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/**
 * The addresses of a URL, all of which are allowed. Undefined if one is not, or the name is unknown. Each connection calls
 * it again and goes to one of them: a name may change its addresses in between.
 */
export const findAddresses = async (url: URL, rules: AddressRules): Promise<string[] | undefined> => {
  const host = hostOf(url)
  if (!rules.isLocal && LOCALHOST.test(host)) return undefined
  const addresses = isIP(host) === 0 ? await resolved(host) : [host]
  const hostRules = rules.loopback === 'written' ? rulesFor(rules, host) : rules
  return addresses.length > 0 && addresses.every((address) => isAllowed(address, hostRules)) ? addresses : undefined
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

/** The reason why a URL cannot be the receiver of a webhook now; undefined if it can. */
export const receiverProblem = async (text: string, rules: AddressRules): Promise<UrlProblem> =>
  urlProblem(text, rules) ?? ((await findAddresses(new URL(text), rules)) ? undefined : NOT_REACHABLE)

export const isAllowed = (address: string, { isLocal, loopback, allowed }: AddressRules): boolean => {
  const plain = withoutEmbedding(ipaddr.parse(address))
  const text = plain.toString()
  if (allowed.check(text, plain.kind())) return true
  if (isLocal) return loopback !== 'none' && plain.range() === 'loopback'
  if (plain.range() !== 'unicast' || text === METADATA) return false
  return plain.kind() === 'ipv4' || plain.match(GLOBAL_V6)
}

const isLoopback = (text: string): boolean => ipaddr.isValid(text) && ipaddr.parse(text).range() === 'loopback'

/** The forms of IPv6 addresses that embed an IPv4 address, and its position: mapped, compatible, translated (NAT64), and 6to4. */
const EMBEDDINGS: readonly { prefix: readonly number[]; at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 },
  { prefix: [0, 0, 0, 0, 0xffff, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x2002], at: 1 },
]

/** The IPv4 address that an IPv6 address embeds; any other address as it is. */
const withoutEmbedding = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 => {
  if (!(address instanceof ipaddr.IPv6)) return address
  const { parts } = address
  const form = EMBEDDINGS.find(({ prefix }) => prefix.every((group, index) => parts[index] === group))
  if (!form) return address
  const [high = 0, low = 0] = parts.slice(form.at, form.at + 2)
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff])
}
