import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Form, Input } from '../forms.tsx'

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
  const send = async () => {
    if (await onNamed(name)) setName('')
  }
  return (
    <Form class="line" onSubmit={send}>
      <Input
        aria-label={label}
        placeholder={placeholder}
        required
        pattern="[a-z0-9_\-]{1,64}"
        title="Lower-case letters, digits, - and _"
        value={name}
        onText={setName}
      />
      {children}
      <button type="submit">{button}</button>
    </Form>
  )
}
