import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { tokenHeaders } from './api.ts'
import { Body } from './body.tsx'
import { Button, Input } from './forms.tsx'
import { useLoaded } from './hooks.ts'
import { download } from './notices.tsx'
import { Card, counted, Empty, Failed, parsedOf, Status, visible } from './ui.tsx'

/** What an address responds with that has no page of its own: folded, searchable, and as a file. */
export const JsonPage = ({ path }: { path: string }) => {
  const { value, error } = useLoaded(async () => {
    const response = await fetch(path, { headers: { accept: 'application/json', ...tokenHeaders() } })
    return { status: response.status, text: await response.text() }
  }, [path])
  const parsed = useMemo(() => value && parsedOf(value.text), [value])
  const [search, setSearch] = useState('')
  const shown = useMemo(
    () => parsed && (search === '' ? parsed : found(parsed.value, search.toLowerCase())),
    [parsed, search],
  )
  const aside = value && (
    <span class="line">
      <Status status={value.status} />
      <Button text="Download" onClick={() => download(value.text, 'application/json', fileNameOf(path))} />
    </span>
  )
  const label = `The response of ${path}`
  return (
    <div class="single">
      <Card title={path} aside={aside}>
        <Failed error={error} />
        {parsed && (
          <Input
            type="search"
            class="json-search"
            aria-label="Search names and values"
            placeholder="Search names and values"
            value={search}
            onText={setSearch}
          />
        )}
        {shown && (
          <section class="tree" aria-label={label}>
            <Node key={search} value={shown.value} isOpen />
          </section>
        )}
        {parsed && !shown && <Empty>Nothing matches.</Empty>}
        {value && !parsed && <Body text={value.text} label={label} />}
      </Card>
    </div>
  )
}

/** `/_sandbox/test-values?world=a` is `test-values.json`. */
const fileNameOf = (path: string): string =>
  `${(path.split('?')[0] ?? '').split('/').at(-1)?.replace('.json', '')}.json`

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

/** The parts in which a name or a value matches, with what leads to them. */
const found = (value: unknown, search: string): { value: unknown } | undefined => {
  if (!isNested(value)) return String(value).toLowerCase().includes(search) ? { value } : undefined
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (name.toLowerCase().includes(search) && !Array.isArray(value)) return [[name, member]]
    const part = found(member, search)
    return part ? [[name, part.value]] : []
  })
  if (entries.length === 0) return undefined
  return { value: Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries) }
}

/** What a folded value holds: its first members, or how many there are. */
const summaryOf = (entries: readonly [string, unknown][], isList: boolean): string => {
  const plain = isList ? [] : entries.filter(([, member]) => !isNested(member)).slice(0, SUMMARY_MEMBERS)
  if (plain.length === 0) return counted(entries.length, isList ? 'item' : 'member')
  const text = plain.map(([name, member]) => `${name}: ${member}`).join(', ')
  return visible(
    text.length > SUMMARY_LENGTH || plain.length < entries.length ? `${text.slice(0, SUMMARY_LENGTH)} …` : text,
  )
}
const SUMMARY_MEMBERS = 4
const SUMMARY_LENGTH = 110

const KINDS: Record<string, string> = { string: 'text', number: 'number' }

const Node = ({ value, isOpen, label }: { value: unknown; isOpen: boolean; label?: ComponentChildren }) => {
  const [wasOpened, setOpened] = useState(isOpen)
  const entries = isNested(value) ? Object.entries(value) : []
  if (entries.length === 0) {
    return (
      <p>
        {label}
        <span class={`j-${isNested(value) ? '' : (KINDS[typeof value] ?? 'word')}`}>
          {visible(JSON.stringify(value))}
        </span>
      </p>
    )
  }
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}>
      <summary>
        {label}
        <span class="soft">{summaryOf(entries, Array.isArray(value))}</span>
      </summary>
      {wasOpened &&
        entries.map(([name, member]) => (
          <Node key={name} value={member} isOpen={false} label={<span class="j-name">{visible(name)}: </span>} />
        ))}
    </details>
  )
}
