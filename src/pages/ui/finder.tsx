import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Searched, search, termsIn } from '../search.ts'
import { Input } from './forms.tsx'
import { useKeys, useListener } from './hooks.ts'
import { Empty } from './pieces.tsx'

export interface Choice extends Searched {
  kind: string
  choose: () => unknown
}

const SHOWN_MAX = 12
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

interface Props {
  label: string
  /** True if a slash opens it too, and a button. */
  hasButton?: boolean
  /** Called when it is opened. */
  load: () => Promise<readonly Choice[]>
}

/** A dialog that finds by what people say, and does what they choose: Ctrl+K. */
export const Finder = ({ label, hasButton = false, load }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [typed, setTyped] = useState('')
  const [selected, setSelected] = useState(0)
  const [choices, setChoices] = useState<readonly Choice[]>([])
  const find = (text: string): void => {
    setTyped(text)
    setSelected(0)
  }
  const open = (): void => {
    find('')
    dialog.current?.showModal()
    void load().then(setChoices)
  }
  useKeys(hasButton ? { '/': open } : {}, [load])
  useListener(window, 'keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    open()
  })
  useEffect(() => document.getElementById(`found-${selected}`)?.scrollIntoView({ block: 'nearest' }), [selected])
  const terms = useMemo(() => termsIn(typed), [typed])
  const found = useMemo(() => search(choices, terms).slice(0, SHOWN_MAX), [choices, terms])
  const choose = (choice: Choice | undefined): void => {
    if (!choice) return
    dialog.current?.close()
    choice.choose()
  }
  return (
    <>
      {hasButton && (
        <button type="button" onClick={open}>
          Search <kbd>/</kbd>
        </button>
      )}
      <dialog ref={dialog} class="finder" aria-label={label}>
        <Input
          type="search"
          aria-label="Find"
          aria-controls="found"
          aria-activedescendant={found[selected] && `found-${selected}`}
          placeholder={label}
          value={typed}
          onText={find}
          onKeyDown={(event) => {
            const step = STEPS[event.key]
            if (event.key === 'Enter') choose(found[selected])
            if (step === undefined) return
            event.preventDefault()
            setSelected((selected + step + found.length) % Math.max(1, found.length))
          }}
        />
        <div id="found" role="listbox" aria-label="Results">
          {found.map((choice, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
            <div
              key={`${choice.kind} ${choice.title}`}
              id={`found-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === selected}
              onClick={() => choose(choice)}
            >
              {choice.title} <span class="soft">{choice.kind}</span>
              <div class="soft">{excerptOf(choice, terms)}</div>
            </div>
          ))}
        </div>
        <div role="status">{found.length === 0 && <Empty>Nothing matches.</Empty>}</div>
      </dialog>
    </>
  )
}

const BEFORE_LENGTH = 40
const TEXT_LENGTH = 140

/** The part of a text in which something was found, else its beginning. */
const excerptOf = ({ title, text }: Searched, terms: ReturnType<typeof termsIn>): string => {
  const body = text.toLowerCase()
  const at = terms
    .flatMap(({ word, names }) => (title.toLowerCase().includes(word) ? [] : [word, ...names]))
    .map((name) => body.indexOf(name))
    .find((index) => index >= 0)
  const from = at === undefined || at < BEFORE_LENGTH ? 0 : body.indexOf(' ', at - BEFORE_LENGTH) + 1
  const part = text.slice(from, from + TEXT_LENGTH).replaceAll('`', '')
  return `${from > 0 ? '… ' : ''}${part}${from + TEXT_LENGTH < text.length ? ' …' : ''}`
}
