import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { counted } from '../../kernel/counted.ts'
import { visibleLines as visible } from '../../kernel/visible.ts'
import { Code, parsedOf } from './pieces.tsx'

/** A longer text is cut. */
const SHOWN_MAX = 100_000

/** A string, which a colon makes a name, or a number or word. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g

/** JSON as pieces of text with their kinds, so that no part of it becomes markup. */
const piecesOf = (json: string): ComponentChildren[] => {
  const pieces: ComponentChildren[] = []
  let end = 0
  for (const match of json.matchAll(TOKEN)) {
    const [text, string, colon = ''] = match
    const kind = string === undefined ? 'warn' : colon === '' ? 'good' : 'info'
    pieces.push(json.slice(end, match.index), <span class={kind}>{string ?? text}</span>, colon)
    end = match.index + text.length
  }
  return [...pieces, json.slice(end)]
}

export const prettyOf = (text: string): string | undefined => {
  const parsed = parsedOf(text)
  return parsed && JSON.stringify(parsed.value, null, 2)
}

/** A body, indented if it is JSON. */
export const Body = ({ text, label }: { text: string | null; label: string }) => {
  const pieces = useMemo(() => {
    const pretty = text === null || text.length > SHOWN_MAX ? undefined : prettyOf(text)
    return pretty === undefined ? undefined : piecesOf(visible(pretty))
  }, [text])
  if (text === null || text === '') return <p class="soft">No body</p>
  return (
    <>
      <Code label={label}>
        <code dir="ltr">{pieces ?? visible(text.slice(0, SHOWN_MAX))}</code>
      </Code>
      {text.length > SHOWN_MAX && (
        <p class="soft">The first 100,000 of {text.length.toLocaleString('en')} characters</p>
      )}
    </>
  )
}

export const HeaderList = ({ headers }: { headers: Record<string, string> }) => (
  <details class="headers">
    <summary>{counted(Object.keys(headers).length, 'header')}</summary>
    <dl>
      {Object.entries(headers).map(([name, value]) => (
        <div key={name}>
          <dt>{visible(name)}</dt>
          <dd>{visible(value)}</dd>
        </div>
      ))}
    </dl>
  </details>
)
