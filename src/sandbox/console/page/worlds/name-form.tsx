import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface Props {
  label: string
  placeholder: string
  button: string
  /** Whether it has worked: the field is emptied then. */
  onNamed: (name: string) => Promise<boolean>
  /** What else is asked for. */
  children?: ComponentChildren
}

/** Asks for the name of a new world or snapshot. */
export const NameForm = ({ label, placeholder, button, onNamed, children }: Props) => {
  const [name, setName] = useState('')
  return (
    <form
      class="line"
      onSubmit={async (event) => {
        event.preventDefault()
        if (await onNamed(name)) setName('')
      }}
    >
      <input
        aria-label={label}
        placeholder={placeholder}
        required
        pattern="[a-z0-9_\-]{1,64}"
        title="Lower-case letters, digits, - and _"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      {children}
      <button type="submit">{button}</button>
    </form>
  )
}
