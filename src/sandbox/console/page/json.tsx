import { useState } from 'preact/hooks'
import { tokenHeaders } from './api.ts'
import { Body } from './body.tsx'
import { Button } from './forms.tsx'
import { useLoaded } from './hooks.ts'
import { download } from './notices.tsx'
import { Card, Failed, parsedOf, Status } from './ui.tsx'

/** What an address responds with that has no page of its own: as text, folded where it has members, and as a file. */
export const JsonPage = ({ path }: { path: string }) => {
  const { value, error } = useLoaded(async () => {
    const response = await fetch(path, { headers: { accept: 'application/json', ...tokenHeaders() } })
    return { status: response.status, text: await response.text() }
  }, [path])
  const aside = value && (
    <span class="line">
      <Status status={value.status} />
      <Button text="Download" onClick={() => download(value.text, 'application/json', fileNameOf(path))} />
    </span>
  )
  const parsed = value && parsedOf(value.text)?.value
  return (
    <div class="single">
      <Card title={path} aside={aside}>
        <Failed error={error} />
        {typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
          ? Object.entries(parsed).map(([name, member]) => <Member key={name} name={name} value={member} />)
          : value && <Body text={value.text} label={`The response of ${path}`} />}
      </Card>
    </div>
  )
}

/** `/_sandbox/test-values?world=a` is `test-values.json`. */
const fileNameOf = (path: string): string =>
  `${(path.split('?')[0] ?? '').split('/').at(-1)?.replace('.json', '')}.json`

const Member = ({ name, value }: { name: string; value: unknown }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{name}</summary>
      {isOpen && <Body text={JSON.stringify(value)} label={name} />}
    </details>
  )
}
