import { BADGE, type Card, CORNER, HEIGHT, MARGIN, MOTIF, PRINT_BASELINE, PRINT_SIZE, RINGS, WIDTH } from './card.ts'

/** A card as an SVG that loads nothing. */

export const SVG_TYPE = 'image/svg+xml'

const FONT = "Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif"

export const svgOf = (card: Card): string => {
  const { name, from, to, tint, rings, motif, initials, initialsSize, nameSize, nameLines, category, currency } = card
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeXml(name)}">`,
    `<defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient><clipPath id="c"><rect width="${WIDTH}" height="${HEIGHT}" rx="${CORNER}"/></clipPath></defs>`,
    `<g clip-path="url(#c)"><rect width="${WIDTH}" height="${HEIGHT}" fill="url(#g)"/>`,
    `<g fill="none" stroke="${tint}" stroke-width="${RINGS.stroke}" opacity="${RINGS.opacity}">`,
    ...RINGS.radii.map((radius) => `<circle cx="${rings.x}" cy="${rings.y}" r="${radius}"/>`),
    '</g>',
    `<path transform="translate(${MOTIF.x} ${MOTIF.y}) rotate(${motif.tiltDegrees} 100 100)" d="${motif.path}" fill="none" stroke="${tint}" stroke-width="${MOTIF.stroke}" stroke-linecap="round" stroke-linejoin="round" opacity="${MOTIF.opacity}"/></g>`,
    `<rect x="${MARGIN}" y="${MARGIN}" width="${BADGE.size}" height="${BADGE.size}" rx="${BADGE.corner}" fill="${tint}"/>`,
    `<g font-family="${FONT}" font-weight="600"><text x="${MARGIN + BADGE.size / 2}" y="${MARGIN + BADGE.size / 2}" dy=".36em" font-size="${initialsSize}" font-weight="700" text-anchor="middle" fill="${to}">${escapeXml(initials)}</text>`,
    `<g fill="#fff" font-size="${nameSize}" font-weight="700">`,
    ...nameLines.map(({ text, y }) => `<text x="${MARGIN}" y="${y}">${escapeXml(text)}</text>`),
    `</g><g fill="${tint}" font-size="${PRINT_SIZE}"><text x="${MARGIN}" y="${PRINT_BASELINE}">${escapeXml(category)}</text>`,
    `<text x="${WIDTH - MARGIN}" y="${PRINT_BASELINE}" text-anchor="end" font-weight="700">${currency}</text></g></g>`,
    '</svg>',
  ].join('')
}

/** Control characters have no place in XML. */
const escapeXml = (text: string): string => Bun.escapeHTML(text.replace(/\p{Cc}/gu, ' '))
