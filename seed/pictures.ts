import { icons } from 'lucide'
import opentype from 'opentype.js'
import svgpath from 'svgpath'

/** What card pictures are drawn with: the outlines of motifs and of letters, as paths of M, L, Q, C and Z alone. */

/** By subcategory and by category, as Lucide names them. Where there are several, the brand decides. */
const MOTIFS: Readonly<Record<string, readonly (keyof typeof icons)[]>> = {
  'Cafes & Bakeries': ['Coffee', 'Croissant', 'CakeSlice', 'Donut'],
  Restaurants: ['Utensils', 'ChefHat', 'Soup', 'Wine', 'Salad'],
  'Fast Food': ['Hamburger', 'Sandwich', 'CupSoda', 'Drumstick'],
  'Food Delivery': ['Pizza', 'ShoppingBag', 'Motorbike'],
  Supermarkets: ['ShoppingCart', 'ShoppingBasket', 'Milk'],
  'Farm & Organic': ['Carrot', 'Apple', 'Wheat'],
  'Household Supplies': ['SprayCan', 'SoapDispenserDroplet'],
  Clothing: ['Shirt', 'ShoppingBag', 'Tag'],
  Footwear: ['Footprints'],
  'Jewellery & Watches': ['Gem', 'Watch'],
  "Kids' Wear": ['Baby', 'ToyBrick'],
  'Books & Magazines': ['BookOpen', 'Library', 'BookMarked'],
  'Online Courses': ['GraduationCap', 'MonitorPlay', 'School'],
  'Stationery & Art Supplies': ['Palette', 'PencilRuler'],
  'Video Games': ['Gamepad2', 'Joystick', 'Swords'],
  'Mobile Games': ['TabletSmartphone', 'Ghost'],
  'Board Games & Hobbies': ['Dices', 'Puzzle'],
  'Computers & Tablets': ['Laptop', 'Cpu', 'Keyboard'],
  'Phones & Accessories': ['Smartphone', 'BatteryCharging'],
  'Audio & Cameras': ['Headphones', 'Camera'],
  'Home Appliances': ['WashingMachine', 'Refrigerator'],
  Furniture: ['Armchair', 'Sofa', 'LampDesk'],
  'Kitchen & Tableware': ['CookingPot', 'CupSoda'],
  'Garden & DIY': ['Sprout', 'Hammer'],
  'Decor & Lighting': ['LampFloor', 'Lightbulb'],
  Pharmacies: ['Pill', 'BriefcaseMedical'],
  'Cosmetics & Skincare': ['Sparkles', 'Brush', 'Droplets'],
  'Spas & Salons': ['Scissors', 'Bath'],
  'Fitness & Gyms': ['Dumbbell', 'HeartPulse'],
  Airlines: ['Plane', 'PlaneTakeoff'],
  Hotels: ['BedDouble', 'Hotel', 'ConciergeBell'],
  'Tours & Experiences': ['Map', 'Compass', 'Binoculars'],
  'Rail & Ride Hailing': ['TrainFront', 'CarTaxiFront', 'Bus'],
  Cinema: ['Clapperboard', 'Popcorn'],
  'Music & Streaming': ['Music', 'AudioLines', 'Disc3'],
  'Concerts & Events': ['Ticket', 'MicVocal'],
  'Outdoor & Camping': ['Tent', 'MountainSnow', 'Caravan'],
  Sportswear: ['Medal', 'Trophy', 'Volleyball'],
  Cycling: ['Bike'],
  'Flowers & Hampers': ['Flower2', 'Gift'],
  'Charity Donations': ['HandHeart', 'HeartHandshake'],
  'Multi-Brand Cards': ['Gift', 'WalletCards', 'Store'],
  'Newspaper Subscriptions': ['Newspaper'],
  'DVD Rental': ['Disc3'],
  'Prepaid Airtime': ['Signal'],
  'Festive Bundles': ['PartyPopper'],
  'Food & Dining': ['Utensils'],
  Groceries: ['ShoppingBasket'],
  'Fashion & Apparel': ['ShoppingBag'],
  'Books & Learning': ['Library'],
  Gaming: ['Gamepad2'],
  Electronics: ['Cpu'],
  'Home & Garden': ['House'],
  'Health & Beauty': ['HeartPulse'],
  'Travel & Transport': ['Luggage'],
  Entertainment: ['Clapperboard'],
  'Sports & Outdoors': ['Trophy'],
  'Gifts & Charity': ['Gift'],
}

/** The icons are drawn in a box of 24, the cards show them in one of 200. */
const MOTIF_SCALE = 200 / 24

type Attributes = Record<string, string | number | undefined>

const number = (attributes: Attributes, name: string): number => Number(attributes[name] ?? 0)

const ellipse = (cx: number, cy: number, rx: number, ry: number): string =>
  `M${cx - rx} ${cy}A${rx} ${ry} 0 1 1 ${cx + rx} ${cy}A${rx} ${ry} 0 1 1 ${cx - rx} ${cy}Z`

const rectangle = (attributes: Attributes): string => {
  const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) => number(attributes, name)) as [
    number,
    number,
    number,
    number,
  ]
  const r = Number(attributes.rx ?? attributes.ry ?? 0)
  const corner = (dx: number, dy: number) => (r === 0 ? '' : `a${r} ${r} 0 0 1 ${dx} ${dy}`)
  return `M${x + r} ${y}h${width - 2 * r}${corner(r, r)}v${height - 2 * r}${corner(-r, r)}h${2 * r - width}${corner(-r, -r)}v${2 * r - height}${corner(r, -r)}z`
}

const pathOf = (shape: string, attributes: Attributes): string => {
  const of = (name: string) => number(attributes, name)
  if (shape === 'path') return String(attributes.d)
  if (shape === 'circle') return ellipse(of('cx'), of('cy'), of('r'), of('r'))
  if (shape === 'ellipse') return ellipse(of('cx'), of('cy'), of('rx'), of('ry'))
  if (shape === 'rect') return rectangle(attributes)
  if (shape === 'line') return `M${of('x1')} ${of('y1')}L${of('x2')} ${of('y2')}`
  if (shape === 'polyline' || shape === 'polygon') return `M${attributes.points}${shape === 'polygon' ? 'Z' : ''}`
  throw new Error(`no path for ${shape}`)
}

/** Absolute, without arcs and short forms: what `src/catalog/canvas.ts` reads. */
const simplified = (path: string, scale = 1, decimals = 0): string => {
  let [x, y] = [0, 0]
  const segments: string[] = []
  const plain = svgpath(path).abs().unshort().unarc().scale(scale).round(decimals)
  plain.iterate(([command, ...values]) => {
    const end = values.slice(-2)
    if (command === 'H') end.splice(0, 1, end[0] ?? 0, y)
    if (command === 'V') end.unshift(x)
    ;[x = x, y = y] = end
    segments.push(/[HV]/.test(command) ? `L${x} ${y}` : command.toUpperCase() + values.join(' '))
  })
  return segments.join('')
}

const motifPath = (name: keyof typeof icons): string =>
  icons[name].map(([shape, attributes]) => simplified(pathOf(shape, attributes as Attributes), MOTIF_SCALE, 1)).join('')

export const makeMotifs = (): string => {
  const names = [...new Set(Object.values(MOTIFS).flat())].sort()
  const lines = (entries: [string, unknown][]): string =>
    entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',\n')
  return `{"kinds":{\n${lines(Object.entries(MOTIFS))}\n},\n"paths":{\n${lines(names.map((name) => [name, motifPath(name)]))}\n}}\n`
}

const FONT = new URL('../node_modules/@fontsource/inter/files/', import.meta.url)
const SUBSETS = ['latin', 'latin-ext', 'cyrillic', 'greek', 'vietnamese'] as const
/** Latin with all its accents, Greek, Cyrillic, punctuation and signs of currencies. */
const RANGES: readonly [from: number, to: number][] = [
  [0x20, 0x7e],
  [0xa0, 0x17f],
  [0x218, 0x21b],
  [0x386, 0x3ce],
  [0x401, 0x45f],
  [0x490, 0x491],
  [0x1ea0, 0x1ef9],
  [0x2010, 0x2026],
  [0x20a0, 0x20bf],
  [0x2122, 0x2122],
]
const LETTER_UNITS = 1_000

/** The letters of a semibold sans serif: their widths and outlines, a thousand units to the font size. */
export const makeLetters = async (): Promise<string> => {
  const fonts = await Promise.all(
    SUBSETS.map(async (subset) => {
      const file = Bun.file(new URL(`inter-${subset}-600-normal.woff`, FONT))
      return opentype.parse(await file.arrayBuffer())
    }),
  )
  const lines: string[] = []
  for (const [from, to] of RANGES) {
    for (let code = from; code <= to; code++) {
      const letter = String.fromCodePoint(code)
      const font = fonts.find((candidate) => candidate.charToGlyphIndex(letter) > 0)
      if (!font) continue
      const glyph = font.charToGlyph(letter)
      const scale = LETTER_UNITS / font.unitsPerEm
      const path = simplified(glyph.getPath(0, 0, LETTER_UNITS).toPathData(0))
      lines.push(`${JSON.stringify(letter)}:[${Math.round((glyph.advanceWidth ?? 0) * scale)},${JSON.stringify(path)}]`)
    }
  }
  return `{\n${lines.join(',\n')}\n}\n`
}
