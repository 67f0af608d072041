import lettersPath from '../../seed/letters.json' with { type: 'file' }
import { turns } from '../kernel/turns.ts'
import { Canvas, type Colour, outlinesOf } from './canvas.ts'
import { BADGE, type Card, CORNER, HEIGHT, MARGIN, MOTIF, PRINT_BASELINE, PRINT_SIZE, RINGS, WIDTH } from './card.ts'

/** A card as a PNG, for mail programs and apps that draw no SVG (decision 0084). */

export const PNG_TYPE = 'image/png'

type Letters = Record<string, [advance: number, path: string]>
/** To the font size. */
const LETTER_UNITS = 1_000
const WHITE: Colour = [255, 255, 255]
/** The height of a capital to the font size. */
const CAPITAL_HEIGHT = 0.728

/** Read with the first picture: at the start nobody needs them. */
let known: Promise<Letters> | undefined

/** Paints it in time slices (decision 32); the runtime packs it beside the thread. */
export const pngOf = async (card: Card): Promise<Uint8Array> => {
  const canvas = new Canvas(WIDTH, HEIGHT)
  known ??= Bun.file(lettersPath).json() as Promise<Letters>
  for (const paint of layersOf(card, await known)) await turns.take(PAINTING, () => paint(canvas))
  return new Bun.Image(bitmapOf(canvas)).png({ compressionLevel: 9 }).bytes()
}

/** Whose turns they are. */
const PAINTING = Symbol('painting')

/** From the ground up, each in a few milliseconds. */
const layersOf = (card: Card, letters: Letters): ((canvas: Canvas) => void)[] => {
  const { from, to, tint, rings, motif, initials, initialsSize, nameSize: size } = card
  const onCard = colourOf(tint)
  const centre = MARGIN + BADGE.size / 2
  const initialsY = centre + (initialsSize * CAPITAL_HEIGHT) / 2
  const print = { y: PRINT_BASELINE, size: PRINT_SIZE, colour: onCard }
  const texts: [string, Place][] = [
    [initials, { x: centre, align: 0.5, y: initialsY, size: initialsSize, colour: colourOf(to) }],
    ...card.nameLines.map(({ text, y }): [string, Place] => [text, { x: MARGIN, y, size, colour: WHITE }]),
    [card.category, { ...print, x: MARGIN }],
    [card.currency, { ...print, x: WIDTH - MARGIN, align: 1 }],
  ]
  return [
    (canvas) => canvas.fillCard(colourOf(from), colourOf(to), CORNER),
    ...RINGS.radii.map((radius) => (canvas: Canvas) => {
      canvas.ring([rings.x, rings.y], radius, RINGS.stroke, onCard, RINGS.opacity)
    }),
    (canvas) => canvas.stroke(outlinesOf(motif.path, tilted(motif.tiltDegrees)), MOTIF.stroke, onCard, MOTIF.opacity),
    (canvas) =>
      canvas.fill(
        outlinesOf(BADGE_PATH, (x, y) => [x + MARGIN, y + MARGIN]),
        onCard,
      ),
    ...texts.map(
      ([text, place]) =>
        (canvas: Canvas) =>
          write(canvas, letters, text, place),
    ),
  ]
}

const { size: EDGE, corner: ROUND } = BADGE
const BADGE_PATH = `M${ROUND} 0L${EDGE - ROUND} 0Q${EDGE} 0 ${EDGE} ${ROUND}L${EDGE} ${EDGE - ROUND}Q${EDGE} ${EDGE} ${EDGE - ROUND} ${EDGE}L${ROUND} ${EDGE}Q0 ${EDGE} 0 ${EDGE - ROUND}L0 ${ROUND}Q0 0 ${ROUND} 0Z`

/** As `#rrggbb`. */
const colourOf = (hex: string): Colour => {
  const number = Number.parseInt(hex.slice(1), 16)
  return [number >> 16, (number >> 8) & 255, number & 255]
}

/** Around the middle of its box of 200 by 200, which is moved to its place. */
const tilted = (degrees: number) => {
  const [sine, cosine] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)]
  return (x: number, y: number) =>
    [
      MOTIF.x + 100 + (x - 100) * cosine - (y - 100) * sine,
      MOTIF.y + 100 + (x - 100) * sine + (y - 100) * cosine,
    ] as const
}

interface Place {
  x: number
  /** Of the baseline. */
  y: number
  /** Which part of the text is left of x: 0 begins there, 1 ends there. */
  align?: number
  size: number
  colour: Colour
}

/** Nothing is written of a text with a letter that the font does not have: half a word would be another word. */
const write = (canvas: Canvas, letters: Letters, text: string, { x, y, align = 0, size, colour }: Place): void => {
  const glyphs = [...text.normalize('NFC')].map((letter) =>
    Object.hasOwn(letters, letter) ? letters[letter] : undefined,
  )
  const scale = size / LETTER_UNITS
  const width = glyphs.reduce((sum, glyph) => sum + (glyph?.[0] ?? Number.NaN), 0) * scale
  if (Number.isNaN(width)) return
  let left = x - width * align
  const outlines = glyphs.flatMap((glyph) => {
    const [advance, path] = glyph ?? [0, '']
    const start = left
    left += advance * scale
    return outlinesOf(path, (atX, atY) => [start + atX * scale, y + atY * scale])
  })
  if (outlines.length > 0) canvas.fill(outlines, colour)
}

const HEADER_BYTES = 14
const INFORMATION_BYTES = 108

/** A bitmap with alpha (BITMAPV4HEADER), the plainest of what the runtime's decoder takes. */
const bitmapOf = ({ width, height, pixels }: Canvas): Uint8Array => {
  const offset = HEADER_BYTES + INFORMATION_BYTES
  const bitmap = new Uint8Array(offset + pixels.length)
  const view = new DataView(bitmap.buffer)
  bitmap.set([0x42, 0x4d])
  view.setUint32(2, bitmap.length, true)
  view.setUint32(10, offset, true)
  view.setUint32(14, INFORMATION_BYTES, true)
  view.setInt32(18, width, true)
  view.setInt32(22, -height, true) // rows from top to bottom
  view.setUint16(26, 1, true)
  view.setUint16(28, 32, true)
  view.setUint32(30, 3, true) // the masks below say where the channels are
  view.setUint32(34, pixels.length, true)
  view.setUint32(54, 0x0000_00ff, true)
  view.setUint32(58, 0x0000_ff00, true)
  view.setUint32(62, 0x00ff_0000, true)
  view.setUint32(66, 0xff00_0000, true)
  bitmap.set(pixels, offset)
  return bitmap
}
