import { codeBlock, Html, html } from '../pages/html.ts'

/** Guides as HTML: Markdown of our own files, rendered by the runtime. */

interface Heading {
  id: string
  text: string
  level: number
}

export interface Section extends Heading {
  /** What stands between its heading and the next one, without markup. */
  body: string
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }
const plain = (markup: string): string =>
  markup.replace(/<[^>]*>/g, '').replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')

/** Where a text without markup would run two words together. */
const CELL_END = /<\/(?:td|th|li|p)>/g

/** The names that GitHub gives to headings, so that links hold there too. */
const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')

/** `pathOf` finds where a link leads; a link to a file that is not served becomes plain text. */
export const renderGuide = (
  markdown: string,
  pathOf: (href: string) => string | undefined,
): { view: Html; sections: Section[] } => {
  const headings: Heading[] = []
  const rendered = Bun.markdown.html(markdown)
  const view = rendered
    .replace(/<h([1-6])>(.*?)<\/h\1>/gs, (_, level: string, markup: string) => {
      const text = plain(markup)
      const same = headings.filter((heading) => slugOf(heading.text) === slugOf(text)).length
      const id = same === 0 ? slugOf(text) : `${slugOf(text)}-${same}`
      headings.push({ id, text, level: Number(level) })
      return `<h${level} id="${html`${id}`}">${markup}</h${level}>`
    })
    .replace(
      /<pre><code(?: class="language-([\w-]+)")?>(.*?)<\/code><\/pre>/gs,
      (_, language: string | undefined, code: string) =>
        String(codeBlock(plain(code).trimEnd(), language === undefined ? 'Code' : `Code: ${language}`)),
    )
    .replace(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_, href: string, markup: string) => {
      const path = pathOf(plain(href))
      return path === undefined ? markup : `<a href="${html`${path}`}">${markup}</a>`
    })
    .replace(/(<code>[^<]*<\/code>)([.,:;)]+)/g, '<span class="held">$1$2</span>')
    .replace(/<table>/g, '<div class="table" tabindex="0" role="group" aria-label="Table"><table>')
    .replace(/<\/table>/g, '</table></div>')
    .replace(/<th([^>]*)><\/th>/g, '<td$1></td>')
  const bodies = view.split(/<h[1-6] id="[^"]*">.*?<\/h[1-6]>/s).slice(1)
  const sections = headings.map((heading, index) => ({
    ...heading,
    body: plain((bodies[index] ?? '').replace(CELL_END, ' '))
      .replace(/\s+/g, ' ')
      .trim(),
  }))
  return { view: new Html(view), sections }
}
