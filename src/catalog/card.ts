import motifs from '../../seed/motifs.json' with { type: 'text' }

/** The picture of an invented brand: an SVG that loads nothing (decision 8). */

const FONT = "Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif"
const WIDTH = 640
const HEIGHT = 400
const MARGIN = 44
const CORNER = 28
/** The baseline of the name's last line. */
const NAME_BASELINE = 298
/** The baseline of category and currency. */
const PRINT_BASELINE = 356
/** At a third of its size, as in a list on a phone, this text is as large as small print. */
const PRINT_SIZE = 27
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
const BADGE = { size: 88, corner: 22 } as const
const INITIALS_SIZE_MAX = 40
const INITIALS_WIDTH_MAX = 72
/** The drawings have a box of 24 by 24, and their lines are 1.08 of its units wide. */
const MOTIF = { x: 392, y: 22, scale: 200 / 24, stroke: 1.08, opacity: 0.55 } as const
const RINGS = { radii: [150, 262], stroke: 56, opacity: 0.06 } as const

interface Shown {
  name: string
  category: string
  subCategory: string
  currency: { currency: string }
}

/** The category sets the hue, the subcategory the drawing, the brand the shade. The same product always has the same card. */
export const cardOf = ({ name, category, subCategory, currency: { currency } }: Shown): string => {
  // A brand's products in all countries share its first word.
  const hash = Bun.hash.xxHash32(name.split(' ', 1)[0] ?? name)
  const hue = hueOf(category) + (hash % 29) - 14
  const lightness = 0.43 + ((hash >>> 5) % 8) / 100
  const [from, to] = [toHex(lightness, 0.14, hue), toHex(lightness - 0.14, 0.115, hue + 38)]
  /** The colour of everything on the card besides the name, which is white. */
  const tint = toHex(0.955, 0.025, hue)
  const rings = `cx="${400 + ((hash >>> 14) % 200)}" cy="${(hash >>> 20) % 160}"`
  const tiltDegrees = ((hash >>> 9) % 25) - 12
  const motif = `translate(${MOTIF.x} ${MOTIF.y}) rotate(${tiltDegrees} 100 100) scale(${MOTIF.scale})`
  const initials = initialsOf(name)
  const initialsSize = Math.min(INITIALS_SIZE_MAX, Math.floor(INITIALS_WIDTH_MAX / widthOf(initials)))
  const middle = MARGIN + BADGE.size / 2
  const { size, lines } = fitted(name)
  const firstBaseline = NAME_BASELINE - (lines.length - 1) * lineHeight(size)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeXml(name)}">`,
    `<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient><clipPath id="c"><rect width="${WIDTH}" height="${HEIGHT}" rx="${CORNER}"/></clipPath></defs>`,
    `<g clip-path="url(#c)"><rect width="${WIDTH}" height="${HEIGHT}" fill="url(#g)"/>`,
    `<g fill="none" stroke="${tint}" stroke-width="${RINGS.stroke}" opacity="${RINGS.opacity}">`,
    ...RINGS.radii.map((radius) => `<circle ${rings} r="${radius}"/>`),
    '</g>',
    `<g transform="${motif}" fill="none" stroke="${tint}" stroke-width="${MOTIF.stroke}" stroke-linecap="round" stroke-linejoin="round" opacity="${MOTIF.opacity}">${motifOf(subCategory, category, hash >>> 3)}</g></g>`,
    `<rect x="${MARGIN}" y="${MARGIN}" width="${BADGE.size}" height="${BADGE.size}" rx="${BADGE.corner}" fill="${tint}"/>`,
    `<g font-family="${FONT}" font-weight="600"><text x="${middle}" y="${middle}" dy=".36em" font-size="${initialsSize}" font-weight="700" text-anchor="middle" fill="${to}">${escapeXml(initials)}</text>`,
    `<g fill="#fff" font-size="${size}" font-weight="700">`,
    ...lines.map(
      (text, index) => `<text x="${MARGIN}" y="${firstBaseline + index * lineHeight(size)}">${escapeXml(text)}</text>`,
    ),
    `</g><g fill="${tint}" font-size="${PRINT_SIZE}"><text x="${MARGIN}" y="${PRINT_BASELINE}">${escapeXml(cut(category, CATEGORY_LETTERS_MAX))}</text>`,
    `<text x="${WIDTH - MARGIN}" y="${PRINT_BASELINE}" text-anchor="end" font-weight="700">${currency}</text></g></g>`,
    '</svg>',
  ].join('')
}

/** Escapes a text for XML, which allows no control characters. */
const escapeXml = (text: string): string => Bun.escapeHTML(text.replace(/\p{Cc}/gu, ' '))

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

/** The graphemes of a text, which a reader considers its letters. */
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

/** Converts from OKLCH, in which equal lightness looks equal in all hues. White on a lightness of 0.5 has enough contrast. */
const toHex = (lightness: number, chroma: number, hueDegrees: number): string =>
  Bun.color(`oklch(${lightness * 100}% ${chroma} ${hueDegrees})`, 'hex') ?? ''

interface Motifs {
  kinds: Record<string, string[]>
  drawings: Record<string, string>
}

let known: Motifs | undefined

/** The drawing of a subcategory, otherwise of its category, otherwise a gift. Equal numbers choose equal drawings. */
const motifOf = (subcategory: string, category: string, choice: number): string => {
  known ??= JSON.parse(motifs) as Motifs
  const { kinds, drawings } = known
  const names = [subcategory, category].flatMap((name) => (Object.hasOwn(kinds, name) ? [kinds[name] ?? []] : []))[0]
  const name = names?.[choice % names.length] ?? 'Gift'
  return drawings[name] ?? ''
}

/** The hues in degrees. Any other category has a hue that follows from its name. */
const HUES: ReadonlyMap<string, number> = new Map([
  ['Food & Dining', 48],
  ['Groceries', 132],
  ['Fashion & Apparel', 355],
  ['Books & Learning', 306],
  ['Gaming', 284],
  ['Electronics', 262],
  ['Home & Garden', 158],
  ['Health & Beauty', 186],
  ['Travel & Transport', 240],
  ['Entertainment', 332],
  ['Sports & Outdoors', 214],
  ['Gifts & Charity', 20],
])

const hueOf = (category: string): number => HUES.get(category) ?? Bun.hash.xxHash32(category) % 360
