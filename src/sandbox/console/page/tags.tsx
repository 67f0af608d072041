import { Tag } from '../../../pages/ui/pieces.tsx'

/** The tags of a request. */

export const Status = ({ status }: { status: number }) => (
  <span class={`status s${Math.floor(status / 100)}`}>{status === 0 ? 'lost' : status}</span>
)

export const Method = ({ method }: { method: string }) => <span class={`method ${method.toLowerCase()}`}>{method}</span>

/** A fault in words, from its name in the log: `drop; when=after`. */
export const FaultTag = ({ fault }: { fault: string }) => {
  const [name = '', isAfter] = fault.split(';')
  const text =
    name === 'drop' ? `${isAfter ? 'response' : 'request'} lost` : `${name}${isAfter ? ', after the work' : ''}`
  return <Tag kind="warn">fault: {text}</Tag>
}
