/** Path and query of a request's URL, which lacks scheme and host if the Host header is invalid. */
export const targetOf = (url: string): string => {
  if (url.startsWith('/')) return url
  const start = url.indexOf('/', url.indexOf('//') + 2)
  return start === -1 ? url : url.slice(start)
}

export const pathOf = (url: string): string => {
  const target = targetOf(url)
  const end = target.indexOf('?')
  return end === -1 ? target : target.slice(0, end)
}

/**
 * The URL of a request for a path as it arrives here. The proxy that serves the public URL ends TLS, and takes the path of
 * that URL away; the framework finds no path behind `https`.
 */
export const urlBehind = (publicUrl: string, path: string): string => `http://${new URL(publicUrl).host}${path}`

/** The path of the public URL, which is before each path of this server; empty without one. */
export const basePathOf = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/$/, '')

/** A route without the slash that the framework adds to the root of a prefix. */
export const documentedRoute = (route: string): string =>
  route.length > 1 && route.endsWith('/') ? route.slice(0, -1) : route
