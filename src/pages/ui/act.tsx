import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { visibleLines as visible } from '../../kernel/visible.ts'
import type { ActField, ActForm, EndedAct, FilledAct } from '../act-form.ts'
import { Button, Field, FileField, Form, named, SelectField } from './forms.tsx'
import { useAttempt } from './hooks.ts'
import { Failed, Tag } from './pieces.tsx'

/** Acts on pages: a button for each, and its form, which shows first what it would do. */

/** The subject of an act: the first operand of its command, and its name for people. */
export interface Subject {
  id: string
  label: string
}

type Values = Readonly<Record<string, string>>

interface FieldsProps {
  fields: readonly ActField[]
  values: Values
  onValues: (values: Values) => void
  onFile: (text: string) => void
}

const Fields = ({ fields, values, onValues, onFile }: FieldsProps) => (
  <div class="form">
    {fields.map(({ name, label, hint, isRequired: required, choices, isFile }) => {
      const value = values[name] ?? ''
      const set = (text: string) => onValues({ ...values, [name]: text })
      const known = { label, hint, required }
      if (isFile) {
        const take = (text: string, file: string) => {
          set(file)
          onFile(text)
        }
        return <FileField key={name} {...known} onFile={take} />
      }
      if (!choices) return <Field key={name} {...known} value={value} onText={set} />
      const options = required && value !== '' ? named(choices) : ([['', '–'], ...named(choices)] as const)
      return <SelectField key={name} {...known} value={value} options={options} onChoose={set} />
    })}
  </div>
)

/** The initial values of a form: what its record has, or else what its fields say. */
const presetsOf = (fields: readonly ActField[], filled: Values): Values => ({
  ...Object.fromEntries(fields.flatMap(({ name, preset }) => (preset === undefined ? [] : [[name, preset]]))),
  ...filled,
})

/** An id that no other act has. */
const freshId = (): string => `act_${crypto.getRandomValues(new BigUint64Array(2)).join('-')}`

interface ActProps<Result> {
  /** The subjects; none for an act that makes something new. */
  subjects?: readonly Subject[] | undefined
  /** The initial values of fields, by their names. */
  filled?: Values | undefined
  /** Does acts, or shows what they would do. */
  ask: (acts: readonly FilledAct[], isDryRun: boolean) => Promise<readonly EndedAct<Result>[]>
  /** A result for people. */
  show: (result: Result, isOfSubject: boolean) => ComponentChildren
}

interface DialogProps<Result> extends ActProps<Result> {
  form: ActForm
  onEnd: (isDone: boolean) => void
}

/** The form of an act. One that moves money or replaces something first shows a dry run, and asks once more. */
const ActDialog = <Result,>({ form, subjects = [], filled = {}, ask, show, onEnd }: DialogProps<Result>) => {
  const { command, title, about, isMoney } = form
  const dialog = useRef<HTMLDialogElement>(null)
  const fields = subjects.length === 0 ? form.fields : form.fields.slice(1)
  const [values, setValues] = useState(() => presetsOf(fields, filled))
  const [file, setFile] = useState<string>()
  /** The acts that are asked for. Their ids stay the same until they are done. */
  const asked = useRef<readonly FilledAct[]>([])
  const [preview, setPreview] = useState<readonly EndedAct<Result>[]>()
  const [done, setDone] = useState<readonly EndedAct<Result>[]>()
  const [error, attempt] = useAttempt()
  const [isBusy, setBusy] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const send = async (isDryRun: boolean) => {
    setBusy(true)
    await attempt(async () => {
      const ended = await ask(asked.current, isDryRun)
      if (isDryRun) setPreview(ended)
      else setDone(ended)
    })
    setBusy(false)
  }
  const submit = () => {
    if (isBusy) return
    const [first] = form.fields
    const about = subjects.length === 0 ? [{}] : subjects.map(({ id }) => ({ [first?.name ?? '']: id }))
    asked.current = about.map((subject) => ({
      ...{ id: freshId(), command, input: { ...values, ...subject } },
      ...(file !== undefined && { file }),
    }))
    void send(isMoney)
  }
  const close = () => dialog.current?.close()
  const isRefused = preview?.every(({ refusal }) => refusal !== undefined)
  return (
    <dialog ref={dialog} class="act" aria-label={title} onClose={() => onEnd(done !== undefined)}>
      <h2>
        {title} <code class="soft">{command}</code>
      </h2>
      <p class="soft">{about}</p>
      {subjects.length > 0 && !preview && !done && (
        <ul class="subjects">
          {subjects.map(({ id, label }) => (
            <li key={id}>{visible(label)}</li>
          ))}
        </ul>
      )}
      <Failed error={error} />
      {done ? (
        <>
          <Ended ended={done} subjects={subjects} word="Done" show={show} />
          <Button text="Close" class="primary" onClick={close} />
        </>
      ) : preview ? (
        <>
          <Ended ended={preview} subjects={subjects} word="Would be done" show={show} />
          {!isRefused && <p>Nothing has been done yet. Do it?</p>}
          <div class="line">
            {!isRefused && <Button text="Do it" class="primary" disabled={isBusy} onClick={() => send(false)} />}
            <Button text="Back" disabled={isBusy} onClick={() => setPreview(undefined)} />
            <Button text="Close" disabled={isBusy} onClick={close} />
          </div>
        </>
      ) : (
        <Form onSubmit={submit}>
          <Fields fields={fields} values={values} onValues={setValues} onFile={setFile} />
          <div class="line">
            <button type="submit" class="primary" disabled={isBusy}>
              {isMoney ? 'Show what it does' : title}
            </button>
            <Button text="Close" onClick={close} />
          </div>
        </Form>
      )}
    </dialog>
  )
}

interface EndedProps<Result> extends Pick<DialogProps<Result>, 'show'> {
  ended: readonly EndedAct<Result>[]
  subjects: readonly Subject[]
  word: string
}

/** The results of acts or of their dry runs: the moved money, the changed record, or the reason of a refusal. */
const Ended = <Result,>({ ended, subjects, word, show }: EndedProps<Result>) => {
  const refused = ended.filter(({ refusal }) => refusal !== undefined).length
  return (
    <div role="status">
      {ended.length > 1 && (
        <p>
          {word}: {ended.length - refused} of {ended.length}
          {refused > 0 && `, refused: ${refused}`}.
        </p>
      )}
      <ul class="ended">
        {ended.map(({ notes, result, refusal }, index) => (
          <li key={subjects[index]?.id ?? index}>
            {subjects[index] && <strong>{visible(subjects[index].label)}</strong>}{' '}
            {refusal === undefined ? (
              <Tag kind="good">{statusOf(result) === undefined ? word : `${word}: ${statusOf(result)}`}</Tag>
            ) : (
              <Failed error={visible(refusal)} />
            )}
            {notes
              .filter((note) => !note.startsWith('Dry run'))
              .map((note) => (
                <p key={note}>{visible(note)}</p>
              ))}
            {result && show(result, subjects.length > 0)}
          </li>
        ))}
      </ul>
    </div>
  )
}

const statusOf = (result: unknown): string | undefined =>
  typeof result === 'object' && result !== null && 'status' in result ? String(result.status) : undefined

interface ActsProps<Result> extends ActProps<Result> {
  forms: readonly ActForm[]
  onDone: () => void
}

/** A button for each act. */
export const Acts = <Result,>({ forms, onDone, ...rest }: ActsProps<Result>) => {
  const [open, setOpen] = useState<ActForm>()
  const { subjects = [] } = rest
  const [only] = subjects
  const about = only === undefined ? '' : subjects.length === 1 ? ` ${only.label}` : ` ${subjects.length} records`
  return (
    <>
      <div class="line">
        {forms.map((form) => (
          <Button
            key={form.command}
            text={form.title}
            aria-label={`${form.title}${about}`}
            onClick={() => setOpen(form)}
          />
        ))}
      </div>
      {open && (
        <ActDialog
          {...rest}
          form={open}
          onEnd={(isDone) => {
            setOpen(undefined)
            if (isDone) onDone()
          }}
        />
      )}
    </>
  )
}
