import type { ComponentChildren } from 'preact'
import type { Delivery, ScripEvent } from './types.ts'

/** What several pages draw. */

export const Status = ({ status }: { status: number }) => (
  <span class={`status s${Math.floor(status / 100)}`}>{status === 0 ? 'lost' : status}</span>
)

export const Method = ({ method }: { method: string }) => (
  <span class={`method m-${method.toLowerCase()}`}>{method}</span>
)

export const Tag = ({ children, kind = '' }: { children: ComponentChildren; kind?: string }) => (
  <span class={`tag ${kind}`}>{children}</span>
)

/** How an attempt to deliver an event ended. */
export const Attempted = ({ status, response_status, error }: Delivery) => (
  <Tag kind={status === 'delivered' ? 'good' : 'bad'}>
    {status} {response_status ?? error ?? ''}
  </Tag>
)

/** A fault as people say it, by its name in the log: `drop; when=after`. */
export const FaultTag = ({ fault }: { fault: string }) => {
  const [name = '', isAfter] = fault.split(';')
  const text =
    name === 'drop' ? `${isAfter ? 'response' : 'request'} lost` : `${name}${isAfter ? ', after the work' : ''}`
  return <Tag kind="warn">fault: {text}</Tag>
}

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>

/** Text as it is, in a region that scrolls. */
export const Code = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
  <section class="code" aria-label={label} tabIndex={0}>
    <pre>{children}</pre>
  </section>
)

interface CardProps {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}

export const Card = ({ title, aside, children }: CardProps) => (
  <section class="card" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
)

export const Failed = ({ error }: { error: string | undefined }) =>
  error === undefined ? null : (
    <p class="failed" role="alert">
      {error}
    </p>
  )

interface TableProps {
  kind: string
  headings: readonly string[]
  /** The cells of each row, by its key. */
  rows: readonly (readonly [key: string | number, ...cells: ComponentChildren[]])[]
}

export const Table = ({ kind, headings, rows }: TableProps) => (
  <table class={kind}>
    <thead>
      <tr>
        {headings.map((heading) => (
          <th key={heading}>{heading}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(([key, ...cells]) => (
        <tr key={key}>
          {cells.map((cell, index) => (
            <td key={headings[index]}>{cell}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

/** `2026-11-22 12:00:03.120`, as the world has it. */
export const time = (at: string): string => at.replace('T', ' ').replace('Z', '')
export const clockTime = (at: string): string => at.slice(11, 23)

const digits = new Map<string, number>()

/** As many decimals as the currency has. */
const digitsOf = (currency: string): number => {
  const known = digits.get(currency)
  if (known !== undefined) return known
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
  digits.set(currency, maximumFractionDigits)
  return maximumFractionDigits
}

export const amount = (value: number, currency: string): string => {
  const count = digitsOf(currency)
  return `${value.toLocaleString('en', { minimumFractionDigits: count, maximumFractionDigits: count })} ${currency}`
}

/** The id of the record that an event is about. */
export const recordIdOf = ({ data }: ScripEvent): string => ('id' in data ? String(data.id) : '')

/** `1 row`, `1,200 rows`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`

/** In whole units of the smallest precision, so that nothing is lost to binary fractions. */
const UNITS = 10_000

export const sumOf = (lines: readonly { amount: number }[]): number =>
  lines.reduce((units, line) => units + Math.round(line.amount * UNITS), 0) / UNITS

export const ms = (duration: number): string =>
  duration >= 100 ? `${Math.round(duration)} ms` : `${duration.toFixed(duration >= 10 ? 1 : 2)} ms`

/** Characters that control a terminal or the direction of text, made visible: what is shown is what was sent. */
export const visible = (text: string): string =>
  text.replace(
    /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Whether what is said of an item has all words of a search. */
export const fitting = <Item,>(search: string, describe: (item: Item) => string): ((item: Item) => boolean) => {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return (item) => words.every((word) => describe(item).toLowerCase().includes(word))
}

/** Undefined for a text that is not JSON. */
export const parsedOf = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
