import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ActForm, FilledAct } from '../../pages/act-form.ts'
import * as ui from '../../pages/ui/act.tsx'
import { type ActResult, askFor, type List, type Row } from './data.ts'
import { Facts, Rows } from './rows.tsx'

/** The acts of the desk. */

/** The forms of all acts. Empty on a desk that only shows. */
export const Forms = createContext<readonly ActForm[]>([])

interface Props extends Pick<Parameters<typeof ui.Acts>[0], 'subjects' | 'filled' | 'onDone'> {
  /** The commands of the acts. */
  acts: readonly string[]
  /** The last row of the audit that the page has seen. */
  seen?: number | undefined
}

export const Acts = ({ acts, seen, ...rest }: Props) => {
  const all = useContext(Forms)
  const forms = acts.flatMap((act) => all.find(({ command }) => command === act) ?? [])
  const ask = (filled: readonly FilledAct[], isDryRun: boolean, onProgress: ui.OnProgress) =>
    askFor(filled, isDryRun, onProgress, seen)
  if (forms.length === 0) return null
  return <ui.Acts {...rest} forms={forms} ask={ask} show={show} />
}

/** The record of a page is shown there; its password is nowhere else. */
const show = (result: ActResult, isOfSubject: boolean) => {
  if ('rows' in result) return <Rows list={result as List} page="" label="Result" />
  return (!isOfSubject || 'password' in result) && <Facts row={result as Row} page="" />
}
