import type { ComponentChildren, ComponentProps } from 'preact'

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

interface LabelProps {
  label: string
  /** The kind of text that it takes. */
  hint?: string | undefined
}

const Label = ({ label, hint, children }: LabelProps & { children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is among its children
  <label>
    {label}
    {hint !== undefined && <small class="soft">{hint}</small>}
    {children}
  </label>
)

/** An input with its name. */
export const Field = ({ label, hint, ...rest }: InputProps & LabelProps) => (
  <Label label={label} hint={hint}>
    <Input {...rest} />
  </Label>
)

interface FileFieldProps extends LabelProps {
  required?: boolean
  onFile: (text: string, name: string) => void
}

/** Reads a file that a person picks. */
export const FileField = ({ label, hint, required = false, onFile }: FileFieldProps) => (
  <Label label={label} hint={hint}>
    <input
      type="file"
      required={required}
      onChange={async ({ currentTarget: { files } }) =>
        onFile((await files?.[0]?.text()) ?? '', files?.[0]?.name ?? '')
      }
    />
  </Label>
)

/** A choice with its name. */
export const SelectField = ({ label, hint, ...rest }: Parameters<typeof Select>[0] & LabelProps) => (
  <Label label={label} hint={hint}>
    <Select {...rest} />
  </Label>
)
