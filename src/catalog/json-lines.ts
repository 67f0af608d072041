import { type JSONPath, visit } from 'jsonc-parser'

/** Finds the lines of places in valid JSON, such as `/products/2/currency`; of the innermost value on the way if it is missing. */
export const linesOf = (text: string, places: readonly string[]): ((place: string) => number) => {
  const wanted = new Set(places.flatMap(withParents))
  const lines = new Map<string, number>()
  const enter = (_offset: number, _length: number, line: number, _column: number, pathOf: () => JSONPath): boolean => {
    const place = ['', ...pathOf()].join('/')
    if (!wanted.has(place)) return false
    lines.set(place, line + 1)
    return true
  }
  // The scanner leaves a value that was not entered only if its end has a callback.
  const leave = (): void => undefined
  visit(text, {
    onObjectBegin: enter,
    onObjectEnd: leave,
    onArrayBegin: enter,
    onArrayEnd: leave,
    onLiteralValue: (_value, ...position) => void enter(...position),
  })
  const lineOf = (place: string): number => lines.get(place) ?? lineOf(parentOf(place))
  return lineOf
}

const withParents = (place: string): string[] => (place === '' ? [''] : [...withParents(parentOf(place)), place])

const parentOf = (place: string): string => place.slice(0, place.lastIndexOf('/'))
