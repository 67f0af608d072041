import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../kernel/counted.ts'
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

export type Values = Readonly<Record<string, string>>

interface FieldsProps {
  fields: readonly ActField[]
  values: Values
  onValues: (values: Values) => void
  onFile?: (text: string) => void
}

export const Fields = ({ fields, values, onValues, onFile }: FieldsProps) =>
  fields.map(({ name, label, hint, isRequired: required, choices, isFile }) => {
    const value = values[name] ?? ''
    const set = (text: string) => onValues({ ...values, [name]: text })
    const known = { label, hint, required }
    if (isFile) {
      const take = (text: string, file: string) => {
        set(file)
        onFile?.(text)
      }
      return <FileField key={name} {...known} onFile={take} />
    }
    if (!choices) return <Field key={name} {...known} value={value} onText={set} />
    const options = required && value !== '' ? named(choices) : ([['', '–'], ...named(choices)] as const)
    return <SelectField key={name} {...known} value={value} options={options} onChoose={set} />
  })

/** The initial values of a form: what its record has, or else what its fields say. */
const presetsOf = (fields: readonly ActField[], filled: Values): Values => ({
  ...Object.fromEntries(fields.flatMap(({ name, preset }) => (preset === undefined ? [] : [[name, preset]]))),
  ...filled,
})

/** An id that no other act has. */
const freshId = (): string => `act_${crypto.getRandomValues(new BigUint64Array(2)).join('-')}`

/** A total of 0 means that the total is not known. */
export type OnProgress = (what: string, done: number, total: number) => void

/** The ends of acts, and the sums of several of them. */
export interface Outcome<Result> {
  ended: readonly EndedAct<Result>[]
  sums?: Result
}

interface ActProps<Result> {
  /** The subjects; none for an act that makes something new. */
  subjects?: readonly Subject[] | undefined
  /** The present values of the record by the names of their fields: those that stay are not sent. */
  filled?: Values | undefined
  /** Does acts, or shows what they would do. */
  ask: (acts: readonly FilledAct[], isDryRun: boolean, onProgress: OnProgress) => Promise<Outcome<Result>>
  /** A result for people. */
  show: (result: Result, isBrief: boolean) => ComponentChildren
}

interface DialogProps<Result> extends ActProps<Result> {
  form: ActForm
  /** Called when it closes. */
  onEnd: (isSent: boolean) => void
}

/** The form of an act. One that moves money or replaces something first shows a dry run, and asks once more. */
const ActDialog = <Result,>({ form, subjects = [], filled = {}, ask, show, onEnd }: DialogProps<Result>) => {
  const { command, title, about, isMoney } = form
  const dialog = useRef<HTMLDialogElement>(null)
  const fields = subjects.length === 0 ? form.fields : form.fields.slice(1)
  const [values, setValues] = useState(() => presetsOf(fields, filled))
  const [file, setFile] = useState<string>()
  /** The acts that the form asks for. Their ids stay the same until they are done. */
  const acts = useRef<readonly FilledAct[]>([])
  /** True once more than a dry run was asked for, which goes on without its form. */
  const isSent = useRef(false)
  const [preview, setPreview] = useState<Outcome<Result>>()
  const [done, setDone] = useState<Outcome<Result>>()
  const [error, attempt] = useAttempt()
  const [isBusy, setBusy] = useState(false)
  const [progress, setProgress] = useState<Parameters<OnProgress>>()
  useEffect(() => dialog.current?.showModal(), [])
  const send = async (isDryRun: boolean) => {
    setBusy(true)
    if (!isDryRun) isSent.current = true
    if (acts.current.length > 1) setProgress(['', 0, acts.current.length])
    await attempt(async () => {
      const outcome = await ask(acts.current, isDryRun, (...reached) => setProgress(reached))
      if (isDryRun) setPreview(outcome)
      else setDone(outcome)
    })
    setProgress(undefined)
    setBusy(false)
  }
  const submit = () => {
    if (isBusy) return
    const [first] = form.fields
    const changed = Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== filled[name]))
    const about = subjects.length === 0 ? [{}] : subjects.map(({ id }) => ({ [first?.name ?? '']: id }))
    acts.current = about.map((subject) => ({
      ...{ id: freshId(), command, input: { ...changed, ...subject } },
      ...(file !== undefined && { file }),
    }))
    void send(isMoney)
  }
  const close = () => dialog.current?.close()
  // Long lists are not drawn again with each step.
  const isCounted = progress !== undefined
  const isNothing = preview?.ended.every(({ refusal }) => refusal !== undefined)
  return (
    <dialog ref={dialog} class="act" aria-label={title} onClose={() => onEnd(isSent.current)}>
      <h2>
        {title} <code class="soft">{command}</code>
      </h2>
      <p class="soft">{about}</p>
      <Failed error={error} />
      {isCounted && <Progress reached={progress} />}
      {subjects.length > 0 && !preview && !done && !isCounted && (
        <Folded count={subjects.length}>
          <ul class="subjects">
            {subjects.map(({ id, label }) => (
              <li key={id}>{visible(label)}</li>
            ))}
          </ul>
        </Folded>
      )}
      {done ? (
        <>
          <div role="status" class="stack">
            <Ended {...done} subjects={subjects} isDone show={show} />
          </div>
          <div class="line buttons">
            <Button text="Close" class="primary" onClick={close} />
          </div>
        </>
      ) : preview ? (
        <>
          {!isCounted && (
            <div role="status" class="stack">
              <Ended {...preview} subjects={subjects} isDone={false} show={show} />
              {!isNothing && <p>Nothing has been done yet. Do it?</p>}
            </div>
          )}
          <div class="line buttons">
            {!isNothing && <Button text="Do it" class="primary" disabled={isBusy} onClick={() => send(false)} />}
            <Button text="Back" disabled={isBusy} onClick={() => setPreview(undefined)} />
            <Button text="Close" disabled={isBusy} onClick={close} />
          </div>
        </>
      ) : (
        <Form onSubmit={submit}>
          <div class="form">
            <Fields fields={fields} values={values} onValues={setValues} onFile={setFile} />
          </div>
          <div class="line buttons">
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

/** The most records that a list shows before a person opens it. */
const OPEN_MAX = 10

/** A list of records, which a person opens if it is long. */
const Folded = ({ count, children }: { count: number; children: VNode }) =>
  count <= OPEN_MAX ? (
    children
  ) : (
    <details>
      <summary>{counted(count, 'record')}</summary>
      {children}
    </details>
  )

/** `137 of 500`. */
const Progress = ({ reached: [what, done, total] }: { reached: Parameters<OnProgress> }) => (
  <p role="status">
    <progress aria-label="Progress" {...(total > 0 && { value: done, max: total })} />{' '}
    {what === '' ? `${done.toLocaleString('en')} of ${total.toLocaleString('en')}` : visible(what)}
  </p>
)

interface EndedProps<Result> extends Pick<DialogProps<Result>, 'show'>, Outcome<Result> {
  subjects: readonly Subject[]
  /** False for a dry run. */
  isDone: boolean
}

/** The results of acts or of their dry runs: of several the sums first, and last those that were refused. */
const Ended = <Result,>({ ended, sums, subjects, isDone, show }: EndedProps<Result>) => {
  const word = isDone ? 'Done' : 'Would be done'
  const of = { word, show, isBrief: subjects.length > 0 && (isDone || ended.length > 1) }
  if (ended.length === 1)
    return (
      <ul class="ended">
        {ended.map((one) => (
          <EndedItem key={word} {...of} {...one} subject={subjects[0]} />
        ))}
      </ul>
    )
  const all = ended.map((one, index) => ({ ...one, subject: subjects[index] }))
  const [refused, done] = [all.filter(isRefused), all.filter((one) => !isRefused(one))]
  const listed = (those: typeof all) => (
    <ul class="ended">
      {those.map((one) => (
        <EndedItem key={one.subject?.id} {...of} {...one} />
      ))}
    </ul>
  )
  return (
    <>
      <p>
        {word}: {done.length.toLocaleString('en')} of {ended.length.toLocaleString('en')}
        {refused.length > 0 && `, refused: ${refused.length.toLocaleString('en')}`}.
      </p>
      {sums && done.length > 0 && show(sums, false)}
      {done.length > 0 && <Folded count={done.length}>{listed(done)}</Folded>}
      {refused.length > 0 && (
        <>
          <h3>Refused</h3>
          {listed(refused)}
        </>
      )}
    </>
  )
}

const isRefused = ({ refusal }: { refusal?: string }): boolean => refusal !== undefined

interface EndedItemProps<Result> extends EndedAct<Result>, Pick<DialogProps<Result>, 'show'> {
  subject: Subject | undefined
  word: string
  /** True if the page of the subject shows the result. */
  isBrief: boolean
}

/** The moved money, the changed record, or the reason of a refusal. */
const EndedItem = <Result,>({ notes, result, refusal, subject, word, isBrief, show }: EndedItemProps<Result>) => (
  <li>
    {subject && <strong>{visible(subject.label)}</strong>}{' '}
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
    {result && show(result, isBrief)}
  </li>
)

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
          onEnd={(isSent) => {
            setOpen(undefined)
            if (isSent) onDone()
          }}
        />
      )}
    </>
  )
}
