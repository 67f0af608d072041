import { type Html, html } from './html.ts'

/** Pieces that several pages show. */

export const methodBadge = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`

export const jsonBlock = (value: unknown, label: string): Html => codeBlock(JSON.stringify(value, null, 2), label)

/** A block that can be scrolled with the keyboard, and copied. */
export const codeBlock = (code: string, label: string): Html =>
  html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre></div>`
