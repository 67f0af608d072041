import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { tokenHeaders } from './api.ts'
import { Body } from './body.tsx'
import { Card, download, Failed, useLoaded, visible } from './ui.tsx'

/** What an address responds with that has no page of its own: folded, searchable, and as a file. */
export const JsonPage = ({ path }: { path: string }) => {
  const { value, error } = useLoaded(async () => {
    const response = await fetch(path, { headers: { accept: 'application/json', ...tokenHeaders() } })
    return { status: response.status, text: await response.text() }
  }, [path])
  const parsed = useMemo(() => value && parsedOf(value.text), [value])
  const [search, setSearch] = useState('')
  const shown = useMemo(
    () => parsed && (search === '' ? parsed : found(parsed, search.toLowerCase())),
    [parsed, search],
  )
  return (
    <div class="single">
      <Card
        title={path}
        aside={
          <span class="line">
            {value && <span class={`status s${Math.floor(value.status / 100)}`}>{value.status}</span>}
            {value && (
              <button type="button" onClick={() => download(value.text, 'application/json', fileNameOf(path))}>
                Download
              </button>
            )}
          </span>
        }
      >
        <Failed error={error} />
        {parsed && (
          <input
            type="search"
            class="json-search"
            aria-label="Search names and values"
            placeholder="Search names and values"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        {parsed &&
          (shown ? (
            <section class="tree" aria-label={`The response of ${path}`}>
              <Node key={search} value={shown.value} isOpen={search !== '' || isShort(shown.value)} />
            </section>
          ) : (
            <p class="empty">Nothing matches.</p>
          ))}
        {value && !parsed && <Body text={value.text} label={`The response of ${path}`} />}
      </Card>
    </div>
  )
}

/** `/_sandbox/test-values?world=a` is `test-values.json`. */
const fileNameOf = (path: string): string =>
  `${(path.split('?')[0] ?? '').split('/').at(-1)?.replace('.json', '')}.json`

interface Parsed {
  value: unknown
}

const parsedOf = (text: string): Parsed | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The parts in which a name or a value matches, with what leads to them. */
const found = ({ value }: Parsed, search: string): Parsed | undefined => {
  if (!isNested(value)) return String(value).toLowerCase().includes(search) ? { value } : undefined
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (name.toLowerCase().includes(search) && !Array.isArray(value)) return [[name, member]]
    const part = found({ value: member }, search)
    return part ? [[name, part.value]] : []
  })
  if (entries.length === 0) return undefined
  return { value: Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries) }
}

/** What is shown unfolded. */
const SHORT = 12
const isShort = (value: unknown): boolean => isNested(value) && Object.keys(value).length <= SHORT

const Node = ({ value, isOpen, label }: { value: unknown; isOpen: boolean; label?: ComponentChildren }) => {
  const [wasOpened, setOpened] = useState(isOpen)
  if (!isNested(value)) {
    return (
      <p>
        {label}
        <span class={`j-${typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'word'}`}>
          {visible(JSON.stringify(value))}
        </span>
      </p>
    )
  }
  const entries = Object.entries(value)
  const count = entries.length
  const about = Array.isArray(value)
    ? `${count} ${count === 1 ? 'item' : 'items'}`
    : `${count} ${count === 1 ? 'member' : 'members'}`
  if (count === 0) {
    return (
      <p>
        {label}
        {Array.isArray(value) ? '[]' : '{}'}
      </p>
    )
  }
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}>
      <summary>
        {label}
        <span class="soft">{about}</span>
      </summary>
      {wasOpened &&
        entries.map(([name, member]) => (
          <Node key={name} value={member} isOpen={false} label={<span class="j-name">{visible(name)}: </span>} />
        ))}
    </details>
  )
}
