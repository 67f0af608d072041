import { useMemo } from 'preact/hooks'
import { visibleLines as visible } from '../../kernel/visible.ts'
import { counted } from '../amounts.ts'
import { Code, parsedOf } from './pieces.tsx'

/** A longer text is cut. */
const SHOWN_MAX = 100_000

interface Piece {
  kind: string
  text: string
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)/g

/** JSON as pieces of text with their kinds, so that no part of it becomes markup. */
const piecesOf = (json: string): Piece[] => {
  const pieces: Piece[] = []
  let end = 0
  for (const match of json.matchAll(TOKEN)) {
    const [text, string, colon] = match
    if (match.index > end) pieces.push({ kind: '', text: json.slice(end, match.index) })
    if (string !== undefined) {
      pieces.push({ kind: colon === undefined ? 'text' : 'name', text: string })
      if (colon !== undefined) pieces.push({ kind: '', text: colon })
    } else pieces.push({ kind: match[3] === undefined ? 'word' : 'number', text })
    end = match.index + text.length
  }
  pieces.push({ kind: '', text: json.slice(end) })
  return pieces
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
    <div class="body">
      <Code label={label}>
        <code dir="ltr">
          {pieces?.map(({ kind, text: piece }) => (kind === '' ? piece : <span class={`j-${kind}`}>{piece}</span>)) ??
            visible(text.slice(0, SHOWN_MAX))}
        </code>
      </Code>
      {text.length > SHOWN_MAX && (
        <p class="soft">The first 100,000 of {text.length.toLocaleString('en')} characters</p>
      )}
    </div>
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
