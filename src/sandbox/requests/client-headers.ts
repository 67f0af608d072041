/** Headers that a client sends by itself, or that belong to one connection: what is sent again gets its own. */
const OF_CLIENT = new Set([
  'host',
  'content-length',
  'connection',
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'dnt',
  'origin',
  'pragma',
  'priority',
  'referer',
  'user-agent',
  'x-sandbox-token',
])

export const isOfClient = (name: string): boolean => OF_CLIENT.has(name) || name.startsWith('sec-')
