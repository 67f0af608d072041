import type { Product } from './product.ts'

/** The picture of an invented brand: an SVG that needs nothing from outside. */

export const CARD_TYPE = 'image/svg+xml'

/** Degrees that keep any number of successive hues well apart. */
const GOLDEN_ANGLE = 137.508

const WIDTH = 640
const HEIGHT = 400

/** Draws the card of a product. The same product is always the same picture. */
export const drawCard = ({ id, name, category, currency }: Product): string => {
  const [from, to] = huesOf(id)
  const initials = [...name]
    .filter((letter) => /\p{Lu}/u.test(letter))
    .slice(0, 2)
    .join('')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeXml(name)}">`,
    `<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop stop-color="hsl(${from} 62% 42%)"/><stop offset="1" stop-color="hsl(${to} 68% 28%)"/></linearGradient></defs>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" rx="28" fill="url(#g)"/>`,
    `<circle cx="520" cy="90" r="190" fill="#fff" opacity=".07"/><circle cx="600" cy="340" r="130" fill="#fff" opacity=".06"/>`,
    `<g fill="#fff" font-family="system-ui,sans-serif"><text x="48" y="112" font-size="64" font-weight="700" opacity=".92">${escapeXml(initials)}</text>`,
    `<text x="48" y="318" font-size="36" font-weight="600">${escapeXml(name)}</text><text x="48" y="356" font-size="20" opacity=".8">${escapeXml(category)} · ${currency.currency}</text></g>`,
    '</svg>',
  ].join('')
}

const huesOf = (id: number): readonly [number, number] => {
  const hue = Math.round((id * GOLDEN_ANGLE) % 360)
  return [hue, (hue + 40) % 360]
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
