import { MOTIFS, OTHER_PATH } from './motifs.ts'

/** The picture of an invented brand: an SVG that loads nothing. */

export const CARD_TYPE = 'image/svg+xml'

const WIDTH = 640
const HEIGHT = 400
const MARGIN = 44
/** The baseline of the name's last line. */
const NAME_BASELINE = 306
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
const BADGE = 88
const INITIALS_SIZE_MAX = 40
const INITIALS_WIDTH_MAX = 72
const FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif"

interface Shown {
  name: string
  category: string
  currency: { currency: string }
}

/** The category sets hue and drawing, the brand the shade. The same product always has the same picture. */
export const drawCard = ({ name, category, currency }: Shown): string => {
  // A brand's products in all countries share its first word.
  const hash = Bun.hash.xxHash32(name.split(' ', 1)[0] ?? name)
  const { hue: base, path } = MOTIFS[category] ?? { hue: Bun.hash.xxHash32(category) % 360, path: OTHER_PATH }
  const hue = base + (hash % 29) - 14
  const lightness = 0.43 + ((hash >>> 5) % 8) / 100
  const from = toHex(lightness, 0.14, hue)
  const to = toHex(lightness - 0.14, 0.115, hue + 38)
  const tint = toHex(0.955, 0.025, hue)
  const { size, lines } = fitted(name)
  const tilt = ((hash >>> 9) % 25) - 12
  const [x, y] = [400 + ((hash >>> 14) % 200), (hash >>> 20) % 160]
  const initials = initialsOf(name)
  const initialsSize = Math.min(INITIALS_SIZE_MAX, Math.floor(INITIALS_WIDTH_MAX / widthOf(initials)))
  const firstBaseline = NAME_BASELINE - (lines.length - 1) * lineHeight(size)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeXml(name)}">`,
    `<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient><clipPath id="c"><rect width="${WIDTH}" height="${HEIGHT}" rx="28"/></clipPath></defs>`,
    `<g clip-path="url(#c)"><rect width="${WIDTH}" height="${HEIGHT}" fill="url(#g)"/>`,
    `<g fill="none" stroke="${tint}" stroke-width="56" opacity=".06"><circle cx="${x}" cy="${y}" r="150"/><circle cx="${x}" cy="${y}" r="262"/></g>`,
    `<path transform="translate(392 22) rotate(${tilt} 100 100)" d="${path}" fill="none" stroke="${tint}" stroke-width="9" stroke-linecap="round" stroke-linejoin="round" opacity=".5"/></g>`,
    `<rect x="${MARGIN}" y="${MARGIN}" width="${BADGE}" height="${BADGE}" rx="22" fill="${tint}"/>`,
    `<g font-family="${FONT}"><text x="${MARGIN + BADGE / 2}" y="${MARGIN + BADGE / 2}" dy=".35em" font-size="${initialsSize}" font-weight="800" text-anchor="middle" fill="${to}">${escapeXml(initials)}</text>`,
    `<g fill="#fff" font-size="${size}" font-weight="700">`,
    ...lines.map(
      (line, index) => `<text x="${MARGIN}" y="${firstBaseline + index * lineHeight(size)}">${escapeXml(line)}</text>`,
    ),
    `</g><g fill="${tint}" font-size="22"><text x="${MARGIN}" y="356">${escapeXml(cut(category, 30))}</text>`,
    `<text x="${WIDTH - MARGIN}" y="356" text-anchor="end" font-weight="700" letter-spacing="2">${currency.currency}</text></g></g>`,
    '</svg>',
  ].join('')
}

const lineHeight = (size: number): number => Math.round(size * 1.16)

/** The initials of the first two words that have letters: `&` is no word. */
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

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** Control characters have no place in XML. */
const escapeXml = (text: string): string => text.replace(/[&<>"]|\p{Cc}/gu, (character) => ENTITIES[character] ?? ' ')
