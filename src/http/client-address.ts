import { type BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Adds a network (`10.0.0.0/8`, `fd00::/8`) or an address to a list. Returns false if the text is neither. */
export const addNetwork = (networks: BlockList, text: string): boolean => {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return false
  const lengthMax = family === 4 ? 32 : 128
  const bits = Number(length ?? lengthMax)
  if (bits > lengthMax) return false
  networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
  return true
}

/**
 * The address of the client of a request (contract C3): its peer or, behind trusted proxies, the last address of
 * X-Forwarded-For that is not a trusted proxy.
 */
export const addressBehind = (trusted: BlockList, peerOf: (request: Request) => string) => {
  const unmapped = (request: Request): string => withoutMapping(peerOf(request))
  if (trusted.rules.length === 0) return unmapped
  return (request: Request): string => {
    let address = unmapped(request)
    const forwarded = (request.headers.get('x-forwarded-for') ?? '').split(',')
    while (isIn(trusted, address)) {
      // Proxies write only addresses.
      const before = plainAddress(forwarded.pop()?.trim() ?? '')
      if (before === undefined) return address
      address = before
    }
    return address
  }
}

/** An IPv4 address that is embedded in IPv6, in its usual form. */
const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/, '')

/** An address, which some proxies write with its port. */
const plainAddress = (text: string): string | undefined => {
  const bare = text.replace(/^\[([^\]]+)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
  const address = withoutMapping(bare.toLowerCase())
  return isIP(address) === 0 ? undefined : address
}

/** The network of an address. For IPv6 it is the /64, because the owner of one of its addresses has them all. */
export const networkOf = (address: string): string => {
  if (isIP(address) !== 6) return address
  const [withoutZone] = address.split('%')
  return ipaddr.IPv6.networkAddressFromCIDR(`${withoutZone}/64`).toString()
}

const isIn = (networks: BlockList, address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && networks.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
