/** The longest path of a rule: each request is compared with all of them. */
export const PATTERN_LENGTH_MAX = 1_024

/**
 * True if a pattern can match some path that a route serves. A parameter of the route matches the segment of the pattern at the
 * same position, counted from either end.
 */
export const reaches = (pattern: string, route: string): boolean => {
  const [segments, parts] = [pattern.split('/'), route.split('/')]
  const at = parts.findIndex((part) => part.startsWith(':'))
  if (at === -1) return fits(pattern, route)
  const candidates = [parts[at], segments[at], segments.at(at - parts.length)]
  return candidates.some((segment = '') => fits(pattern, parts.with(at, segment.replace(/:\w+|\*/g, 'x')).join('/')))
}

const TOKENS = /:[A-Za-z_]+|./gs

/**
 * True if a pattern matches a path: `:name` is one segment, `*` is anything (contract C15). Unlike a regular expression, it takes
 * time in proportion to the two lengths for every pattern.
 */
export const fits = (pattern: string, path: string): boolean => {
  const sought = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  let ends = [true]
  for (const [token] of pattern.matchAll(TOKENS)) ends = endsAfter(token, ends, sought)
  return ends[sought.length] ?? false
}

/** The lengths of a path at which a pattern can end, computed from those without its last token. */
const endsAfter = (token: string, before: readonly boolean[], path: string): boolean[] => {
  const after = [token === '*' && before[0] === true]
  for (let at = 0; at < path.length; at++) {
    const here = before[at] ?? false
    if (token === '*') after.push(after[at] || before[at + 1] || false)
    else if (token.length > 1) after.push(path[at] !== '/' && (here || after[at] === true))
    else after.push(here && path[at] === token)
  }
  return after
}
