import type { ComponentChildren } from 'preact'
import { jsonIn } from '../../kernel/json.ts'

/** Elements that several pages use. */

export const Tag = ({ children, kind = '' }: { children: ComponentChildren; kind?: string }) => (
  <span class={`tag ${kind}`}>{children}</span>
)

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="soft">{children}</p>

/** Preformatted text, in a region that scrolls. */
export const Code = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="code box">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard */}
    {/* biome-ignore lint/a11y/useSemanticElements: a section has no preformatted text */}
    <pre role="region" aria-label={label} tabIndex={0}>
      {children}
    </pre>
  </div>
)

interface CardProps {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}

export const Card = ({ title, aside, children }: CardProps) => (
  <section class="card box" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
)

interface Figure {
  title: string
  href?: string
  value: number | string
  notes?: readonly string[]
}

/** Numbers to see at one look. */
export const Figures = ({ figures }: { figures: readonly Figure[] }) => (
  <dl class="figures">
    {figures.map(({ title, href, value, notes = [] }) => (
      <div key={title}>
        <dt>{href === undefined ? title : <a href={href}>{title}</a>}</dt>
        <dd>{value.toLocaleString('en')}</dd>
        {notes.map((note) => (
          <dd key={note} class="soft">
            {note}
          </dd>
        ))}
      </div>
    ))}
  </dl>
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

/** A time of the world: `2026-11-22 12:00:03.120`. */
export const time = (at: string): string => at.replace('T', ' ').replace('Z', '')
export const clockTime = (at: string): string => at.slice(11, 23)

export const ms = (duration: number): string =>
  duration >= 100 ? `${Math.round(duration)} ms` : `${duration.toFixed(duration >= 10 ? 1 : 2)} ms`

/** Undefined for a text that is not JSON. */
export const parsedOf = (text: string): { value: unknown } | undefined => {
  const value = jsonIn(text)
  return value === undefined ? undefined : { value }
}
