import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ActForm, FilledAct } from '../../pages/act-form.ts'
import * as ui from '../../pages/ui/act.tsx'
import { Figures } from '../../pages/ui/pieces.tsx'
import { type ActResult, askFor, type List, type Row } from './data.ts'
import { Facts, Paged, Rows } from './rows.tsx'

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

/** A password is shown nowhere else. */
const show = (result: ActResult, isBrief: boolean) => {
  if ('rows' in result) {
    const list = result as List
    return list.columns.includes('change') ? <Changes {...list} /> : <Rows list={list} page="" label="Result" />
  }
  return (!isBrief || 'password' in result) && <Facts row={result as Row} page="" />
}

/** The kinds of changes, what cannot be brought back first. */
const CHANGES = { removed: 'Removed', changed: 'Changed', added: 'Added' } as const

/** The effect of a new catalog, and the orders that wait for products that it removes. */
const Changes = ({ columns, rows }: List) => {
  const byChange = Map.groupBy(rows, ({ change }) => change)
  const waiting = rows.reduce((sum, { waiting_orders }) => sum + Number(waiting_orders), 0)
  const figures = [
    ...Object.entries(CHANGES).map(([change, title]) => ({ title, value: byChange.get(change)?.length ?? 0 })),
    { title: 'Orders that wait for removed products', value: waiting },
  ]
  return (
    <div class="stack">
      <Figures figures={figures} />
      {Object.entries(CHANGES).map(([change, title]) => {
        const those = byChange.get(change) ?? []
        const shown = columns.filter((name) => name !== 'change' && those.some((row) => row[name]))
        return (
          those.length > 0 && <Paged key={change} title={title} page="changes" list={{ columns: shown, rows: those }} />
        )
      })}
    </div>
  )
}
