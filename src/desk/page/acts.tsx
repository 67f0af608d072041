import { useEffect, useRef, useState } from 'preact/hooks'
import { visibleLines as visible } from '../../kernel/visible.ts'
import { Button, Field, Form, named, Select } from '../../pages/ui/forms.tsx'
import { Failed, Tag } from '../../pages/ui/pieces.tsx'
import type { Form as ActForm, Filled } from '../wire.ts'
import { askFor, type Done, type List, type Row, readForm, useAttempt } from './data.ts'
import { Facts, Rows } from './rows.tsx'

/** The subject of an act: the first operand of its command, and its name for people. */
export interface Subject {
  id: string
  label: string
}

interface Props {
  form: ActForm
  /** The subjects; none for an act that makes something new. */
  subjects?: readonly Subject[]
  /** The last row of the audit that the page has seen. */
  seen?: number | undefined
  /** The initial values of fields, by their names. */
  filled?: Readonly<Record<string, string>>
  onEnd: (isDone: boolean) => void
}

interface FileFieldProps {
  label: string
  required?: boolean
  onFile: (text: string, name: string) => void
}

/** Reads a file that a person picks. */
export const FileField = ({ label, required = false, onFile }: FileFieldProps) => (
  <label>
    {label}
    <input
      type="file"
      required={required}
      onChange={async ({ currentTarget: { files } }) =>
        onFile((await files?.[0]?.text()) ?? '', files?.[0]?.name ?? '')
      }
    />
  </label>
)

const nameOf = (command: string): string => command.replace(/^\w+ /, '')
const titleOf = (command: string): string => `${command.charAt(0).toUpperCase()}${command.slice(1)}`

/** The form of an act. One that moves money first shows a dry run, and asks once more. */
const ActDialog = ({ form, subjects = [], seen, filled = {}, onEnd }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [values, setValues] = useState<Readonly<Record<string, string>>>(filled)
  const [file, setFile] = useState<string>()
  const [preview, setPreview] = useState<Done[]>()
  const [done, setDone] = useState<Done[]>()
  const [error, attempt] = useAttempt()
  const [isBusy, setBusy] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const fields = subjects.length === 0 ? form.fields : form.fields.slice(1)
  const [first] = form.fields
  const acts = (): Filled[] => {
    const about = subjects.length === 0 ? [{}] : subjects.map(({ id }) => ({ [first?.name ?? '']: id }))
    const known = { ...(file !== undefined && { file }), ...(seen !== undefined && { seen }) }
    return about.map((input) => ({ command: form.command, input: { ...values, ...input }, ...known }))
  }
  const ask = async (isDryRun: boolean) => {
    setBusy(true)
    await attempt(async () => {
      const withIds = acts().map((act, index) => ({ ...act, ...(preview?.[index] && { id: preview[index].id }) }))
      const ended = await askFor(isDryRun ? acts() : withIds, isDryRun)
      if (isDryRun) setPreview(ended)
      else setDone(ended)
    })
    setBusy(false)
  }
  const close = () => dialog.current?.close()
  const isRefused = preview?.every(({ refusal }) => refusal !== undefined)
  return (
    <dialog ref={dialog} class="act" aria-label={titleOf(form.command)} onClose={() => onEnd(done !== undefined)}>
      <h2>{titleOf(form.command)}</h2>
      <p class="soft">{form.about}</p>
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
          <Ended ended={done} subjects={subjects} word="Done" />
          <Button text="Close" class="primary" onClick={close} />
        </>
      ) : preview ? (
        <>
          <Ended ended={preview} subjects={subjects} word="Would be done" />
          {!isRefused && <p>Nothing has been done yet. Do it?</p>}
          <div class="line">
            {!isRefused && <Button text="Do it" class="primary" disabled={isBusy} onClick={() => ask(false)} />}
            <Button text="Back" disabled={isBusy} onClick={() => setPreview(undefined)} />
            <Button text="Close" disabled={isBusy} onClick={close} />
          </div>
        </>
      ) : (
        <Form onSubmit={() => ask(form.isMoney)}>
          <div class="form">
            {fields.map(({ name, about, isRequired, choices, isFile }) => {
              const set = (text: string) => setValues({ ...values, [name]: text })
              if (isFile)
                return (
                  <FileField
                    key={name}
                    label={about}
                    required={isRequired}
                    onFile={(text, name) => {
                      set(name)
                      setFile(text)
                    }}
                  />
                )
              if (!choices)
                return <Field key={name} label={about} required={isRequired} value={values[name] ?? ''} onText={set} />
              const options = isRequired && values[name] ? named(choices) : ([['', '–'], ...named(choices)] as const)
              return (
                <label key={name}>
                  {about}
                  <Select required={isRequired} value={values[name] ?? ''} options={options} onChoose={set} />
                </label>
              )
            })}
          </div>
          <div class="line">
            <button type="submit" class="primary" disabled={isBusy}>
              {form.isMoney ? 'Show what it does' : titleOf(nameOf(form.command))}
            </button>
            <Button text="Close" onClick={close} />
          </div>
        </Form>
      )}
    </dialog>
  )
}

interface EndedProps {
  ended: readonly Done[]
  subjects: readonly Subject[]
  word: string
}

/** The results of acts or of their dry runs: the moved money, the changed record, or the reason of a refusal. */
const Ended = ({ ended, subjects, word }: EndedProps) => {
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
        {ended.map(({ id, notes, result, refusal }, index) => (
          <li key={id || index}>
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
            {result && 'rows' in result && <Rows list={result as List} page="" label="Findings" />}
            {result && (subjects.length === 0 || 'password' in result) && !('rows' in result) && (
              <Facts row={result as Row} page="" />
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

const statusOf = (result: Done['result']) => (result && 'status' in result ? String(result.status) : undefined)

interface ActsProps {
  /** The commands of the acts. */
  acts: readonly string[]
  subjects?: readonly Subject[] | undefined
  seen?: number | undefined
  filled?: Readonly<Record<string, string>>
  onDone: () => void
}

/** A button for each act. */
export const Acts = ({ acts, onDone, ...rest }: ActsProps) => {
  const [open, setOpen] = useState<ActForm>()
  const [only] = rest.subjects ?? []
  const about =
    only === undefined ? '' : rest.subjects?.length === 1 ? ` ${only.label}` : ` ${rest.subjects?.length} records`
  if (document.querySelector('[data-read-only=true]')) return null
  return (
    <>
      <div class="line">
        {acts.map((act) => {
          const name = titleOf(only && act !== 'wallet add' ? nameOf(act) : act)
          return (
            <Button
              key={act}
              text={name}
              aria-label={name + about}
              onClick={async () => setOpen(await readForm(act))}
            />
          )
        })}
      </div>
      {open && (
        <ActDialog
          form={open}
          subjects={rest.subjects ?? []}
          seen={rest.seen}
          filled={rest.filled ?? {}}
          onEnd={(isDone) => {
            setOpen(undefined)
            if (isDone) onDone()
          }}
        />
      )}
    </>
  )
}
