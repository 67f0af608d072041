/** Path and query of a request's URL. A Host that is none leaves a URL without scheme and host. */
export const targetOf = (url: string): string => {
  if (url.startsWith('/')) return url
  const start = url.indexOf('/', url.indexOf('//') + 2)
  return start === -1 ? url : url.slice(start)
}

/** The path of a request's URL, without its query. */
export const pathOf = (url: string): string => {
  const target = targetOf(url)
  const end = target.indexOf('?')
  return end === -1 ? target : target.slice(0, end)
}

/** A route as it is documented: a room registers its root with a slash behind it. */
export const documentedRoute = (route: string): string =>
  route.length > 1 && route.endsWith('/') ? route.slice(0, -1) : route
