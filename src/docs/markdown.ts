import { codeBlock, Html, html } from '../pages/html.ts'

/** Guides as HTML: Markdown of our own files, rendered by the runtime. Headings have the ids that GitHub gives them. */

interface Section {
  id: string
  heading: string
  level: number
  /** The text between its heading and the next one, without markup. */
  body: string
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }
const plain = (markup: string): string =>
  markup.replace(/<[^>]*>/g, '').replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')

/** Tags between two words: without a space in their place the words would run together. */
const CELL_END = /<\/(?:td|th|li|p|text|title)>/g

/** The names at the beginning of a row, by which it is found. The end of a longer name also finds it: `payouts.not_found`. */
const ROW_START = /<td>(?:<code>[\w.*]+<\/code>\s*)+<\/td>/g
const NAME = /<code>(?=(?:[\w*]+\.)*(\w+)<)/g

/** `pathOf` finds where a link leads; a link to a file that is not served becomes plain text. `drawn` finds a picture that is drawn. */
export const renderGuide = (
  markdown: string,
  pathOf: (href: string) => string | undefined,
  drawn: (href: string) => Html | undefined,
): { view: Html; sections: Section[] } => {
  const ids = new Set<string>()
  const view = Bun.markdown
    .html(markdown, { headings: { ids: true } })
    .replace(
      /<pre><code(?: class="language-([\w-]+)")?>(.*?)<\/code><\/pre>/gs,
      (_, language: string | undefined, code: string) =>
        String(codeBlock(plain(code).trimEnd(), language === undefined ? 'Code' : `Code: ${language}`)),
    )
    .replace(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_, href: string, markup: string) => {
      const path = pathOf(plain(href))
      return path === undefined ? markup : `<a href="${html`${path}`}">${markup}</a>`
    })
    .replace(/<p><img src="([^"]*)"[^>]*><\/p>/g, (image, href: string) => String(drawn(href) ?? image))
    .replace(/(?<=<img src=")[^"]*/g, (href) => pathOf(plain(href)) ?? href)
    .replace(/(<code>[^<]*<\/code>)([.,:;)]+)/g, '<span class="held">$1$2</span>')
    .replace(ROW_START, (row) =>
      row.replace(NAME, (code, name: string) => (ids.has(name) ? code : ids.add(name) && `<code id="${name}">`)),
    )
    .replace(/<table>/g, '<div class="table" tabindex="0" role="group" aria-label="Table"><table>')
    .replace(/<\/table>/g, '</table></div>')
    .replace(/<th([^>]*)><\/th>/g, '<td$1></td>')
  const sections = view.matchAll(/<h([1-6]) id="([^"]*)">(.*?)<\/h\1>(.*?)(?=<h[1-6] id="|$)/gs)
  return {
    view: new Html(view),
    sections: [...sections].map(([, level, id = '', heading = '', body = '']) => ({
      id,
      heading: plain(heading),
      level: Number(level),
      body: plain(body.replace(CELL_END, ' ')).replace(/\s+/g, ' ').trim(),
    })),
  }
}

/** The path of a link as a server has it: all guides in one folder. */
export const servedPath = (href: string): string => href.replace(/^\.\.\/(?:start|use|operate|pictures)\//, '')

/** The Markdown with the links of a server, and plain text instead of links to pages that are not served. */
export const servedMarkdown = (markdown: string, pathOf: (href: string) => string | undefined): string =>
  markdown.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, text: string, href: string) =>
    pathOf(href) === undefined ? text : `[${text}](${servedPath(href)})`,
  )
