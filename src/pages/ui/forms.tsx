import type { ComponentProps } from 'preact'

/** Buttons, fields and choices. Other attributes are those of the element. */

export const Button = ({ text, ...rest }: { text: string } & ComponentProps<'button'>) => (
  <button type="button" {...rest}>
    {text}
  </button>
)

/** A form that stays on its page. */
export const Form = ({ onSubmit, ...rest }: Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit: () => unknown }) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
  />
)

interface Chosen {
  value: string | undefined
  options: readonly (readonly [value: string, name: string])[]
  onChoose: (value: string) => unknown
}

export const Select = ({ value, options, onChoose, ...rest }: Chosen & ComponentProps<'select'>) => (
  <select {...rest} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
    {options.map(([each, name]) => (
      <option key={each} value={each}>
        {name}
      </option>
    ))}
  </select>
)

/** The options for values that are their own names. */
export const named = (names: readonly string[]): Chosen['options'] => names.map((name) => [name, name])

type InputProps = ComponentProps<'input'> & { value: string; onText: (text: string) => unknown }

export const Input = ({ onText, ...rest }: InputProps) => (
  <input {...rest} onInput={(event) => onText(event.currentTarget.value)} />
)

/** An input with its name. */
export const Field = ({ label, ...rest }: InputProps & { label: string }) => (
  <label>
    {label}
    <Input {...rest} />
  </label>
)
