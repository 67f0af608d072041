import { hueOf, motifPath } from './motifs.ts'

/** The picture of an invented brand: what stands on the card, and where. `card-svg.ts` and `card-png.ts` draw it. */

export const WIDTH = 640
export const HEIGHT = 400
export const MARGIN = 44
export const CORNER = 28
/** The baseline of the name's last line. */
const NAME_BASELINE = 298
/** The baseline of category and currency. */
export const PRINT_BASELINE = 356
/** At a third of its size, as in a list on a phone, it is as large as small print. */
export const PRINT_SIZE = 27
const CATEGORY_LETTERS_MAX = 26
/** The largest size that fits is used; in the smallest, the name is truncated. */
const NAME_SIZES = [48, 42, 36, 31] as const
const NAME_LINES_MAX = 2
/** Widths in parts of the font size: wide enough that Latin and Cyrillic lines stay on the card in any fallback font. */
const LETTER_WIDTH = 0.67
const NARROW_LETTER_WIDTH = 0.5
const NARROW_LETTER = /[fijlrtI.,:;!|'’()\s-]/u
const CAPITAL_WIDTH = 0.8
const CAPITAL = /\p{Lu}/u
const WIDE_LETTER_WIDTH = 1.24
const WIDE_LETTER =
  /[MWmw@%—₩ÆŒæœЖФШЩЫЮжфшщыю\uff01-\uff60\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u
export const BADGE = { size: 88, corner: 22 } as const
const INITIALS_SIZE_MAX = 40
const INITIALS_WIDTH_MAX = 72
export const MOTIF = { x: 392, y: 22, stroke: 9, opacity: 0.55 } as const
export const RINGS = { radii: [150, 262], stroke: 56, opacity: 0.06 } as const

interface Shown {
  name: string
  category: string
  subCategory: string
  currency: { currency: string }
}

interface Line {
  text: string
  /** Of its baseline. */
  y: number
}

export interface Card {
  name: string
  /** The colours of two corners, from top left to bottom right, as `#rrggbb`. */
  from: string
  to: string
  /** Of what stands on them besides the name, which is white. */
  tint: string
  rings: { x: number; y: number }
  motif: { path: string; tiltDegrees: number }
  initials: string
  initialsSize: number
  nameSize: number
  nameLines: Line[]
  category: string
  currency: string
}

/** The category sets the hue, the subcategory the drawing, the brand the shade. The same product always has the same card. */
export const cardOf = ({ name, category, subCategory, currency }: Shown): Card => {
  // A brand's products in all countries share its first word.
  const hash = Bun.hash.xxHash32(name.split(' ', 1)[0] ?? name)
  const hue = hueOf(category) + (hash % 29) - 14
  const lightness = 0.43 + ((hash >>> 5) % 8) / 100
  const { size, lines } = fitted(name)
  const initials = initialsOf(name)
  const firstBaseline = NAME_BASELINE - (lines.length - 1) * lineHeight(size)
  return {
    name,
    from: toHex(lightness, 0.14, hue),
    to: toHex(lightness - 0.14, 0.115, hue + 38),
    tint: toHex(0.955, 0.025, hue),
    rings: { x: 400 + ((hash >>> 14) % 200), y: (hash >>> 20) % 160 },
    motif: { path: motifPath(subCategory, category, hash >>> 3), tiltDegrees: ((hash >>> 9) % 25) - 12 },
    initials,
    initialsSize: Math.min(INITIALS_SIZE_MAX, Math.floor(INITIALS_WIDTH_MAX / widthOf(initials))),
    nameSize: size,
    nameLines: lines.map((text, index) => ({ text, y: firstBaseline + index * lineHeight(size) })),
    category: cut(category, CATEGORY_LETTERS_MAX),
    currency: currency.currency,
  }
}

const lineHeight = (size: number): number => Math.round(size * 1.16)

/** The initials of the first two words that have letters: `&` is not a word. */
const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .flatMap((word) => /[\p{L}\p{N}]/u.exec(word)?.[0].toUpperCase() ?? [])
    .slice(0, 2)
    .join('')

const fitted = (name: string): { size: number; lines: string[] } => {
  for (const size of NAME_SIZES) {
    const lines = linesOf(name, size)
    if (lines.length <= NAME_LINES_MAX) return { size, lines }
  }
  const size = NAME_SIZES[NAME_SIZES.length - 1] ?? 0
  const [first = '', second = ''] = linesOf(name, size)
  return { size, lines: [first, truncated(second, -1)] }
}

/** Breaks between words, and within words that are longer than a line. */
const linesOf = (name: string, size: number): string[] => {
  const lines = ['']
  for (const word of name.split(/\s+/)) {
    const line = lines[lines.length - 1]
    const longer = line ? `${line} ${word}` : word
    if (fits(longer, size)) {
      lines[lines.length - 1] = longer
      continue
    }
    const pieces = piecesOf(word, size)
    if (line) lines.push(...pieces)
    else lines.splice(-1, 1, ...pieces)
  }
  return lines
}

const piecesOf = (word: string, size: number): string[] => {
  const pieces = ['']
  for (const letter of lettersOf(word)) {
    const longer = `${pieces[pieces.length - 1]}${letter}`
    if (fits(longer, size)) pieces[pieces.length - 1] = longer
    else pieces.push(letter)
  }
  return pieces
}

/** Graphemes: what a reader considers a letter. */
const lettersOf = (text: string): string[] =>
  [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment)

const fits = (text: string, size: number): boolean => widthOf(text) * size <= WIDTH - 2 * MARGIN

const widthOf = (text: string): number => [...text].reduce((width, letter) => width + letterWidth(letter), 0)

const letterWidth = (letter: string): number => {
  if (WIDE_LETTER.test(letter)) return WIDE_LETTER_WIDTH
  if (NARROW_LETTER.test(letter)) return NARROW_LETTER_WIDTH
  return CAPITAL.test(letter) ? CAPITAL_WIDTH : LETTER_WIDTH
}

const cut = (text: string, lettersMax: number): string =>
  lettersOf(text).length <= lettersMax ? text : truncated(text, lettersMax - 1)

const truncated = (text: string, end: number): string => `${lettersOf(text).slice(0, end).join('').trimEnd()}…`

/** In OKLCH, equal lightness looks equal in all hues. White on a lightness of 0.5 has enough contrast. */
const toHex = (lightness: number, chroma: number, hueDegrees: number): string =>
  Bun.color(`oklch(${lightness * 100}% ${chroma} ${hueDegrees})`, 'hex') ?? ''
