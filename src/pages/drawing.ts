import { type Html, html } from './html.ts'

/** Pieces of the pictures of docs and reference: SVG in the colours of the text around it. */

export const SVG_TYPE = 'image/svg+xml'

/** The width of most letters. */
export const LETTER = 7

export const drawing = (title: string, width: number, height: number, content: Html): Html =>
  html`<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13" fill="none" stroke="currentColor" color="#647082">
<title>${title}</title>
<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor" stroke="none"/></marker></defs>
${content}
</svg>
`

export const arrow = (path: string): Html => html`<path marker-end="url(#end)" d="${path}"/>`

export const label = (x: number, y: number, text: string, anchor: 'start' | 'middle' = 'middle'): Html =>
  html`<text x="${x}" y="${y}" text-anchor="${anchor}" fill="currentColor" stroke="none">${text}</text>`

interface Box {
  x: number
  y: number
  width: number
  height: number
}

export const box = ({ x, y, width, height }: Box): Html =>
  html`<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`

/** A box around one line of text. */
export const labelledBox = (text: string, place: Box): Html =>
  html`${box(place)}${label(place.x + place.width / 2, place.y + place.height / 2 + 5, text)}`

/** A picture of a guide, and of the operations of a record, below a heading. */
export interface Picture {
  heading: string
  drawn: Html
}

/** A picture in a region that scrolls. */
export const pictureView = ({ heading, drawn }: Picture): Html =>
  html`<div class="table" tabindex="0" role="group" aria-label="${heading}">${drawn}</div>`
