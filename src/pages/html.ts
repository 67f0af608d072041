/** Text for HTML. `html` escapes the values that it inserts, except results of `html`. */

export class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text
  }
}

type Part = string | number | boolean | null | undefined | Html | readonly Part[]

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const rendered = (part: Part): string => {
  if (part === null || part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return part.map(rendered).join('')
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}

/** A template of HTML. It writes nothing for undefined, null and false. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(rendered)))

/** A sentence of the document, in which backticks mark code. */
export const prose = (text: string): Html =>
  new Html(
    text
      .split('`')
      .map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`))
      .join(''),
  )

export const methodBadge = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`

export const jsonBlock = (value: unknown, label: string): Html => codeBlock(JSON.stringify(value, null, 2), label)

/** A block that can be scrolled with the keyboard, and copied. */
export const codeBlock = (code: string, label: string): Html =>
  html`<div class="code box"><pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre></div>`
