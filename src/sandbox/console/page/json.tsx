import { tokenHeaders } from './api.ts'
import { Body } from './body.tsx'
import { Card, Failed, useLoaded } from './ui.tsx'

/** What an address answers that has no page of its own. */
export const JsonPage = ({ path }: { path: string }) => {
  const { value, error } = useLoaded(async () => {
    const response = await fetch(path, { headers: { accept: 'application/json', ...tokenHeaders() } })
    return { status: response.status, text: await response.text() }
  }, [path])
  return (
    <div class="single">
      <Card
        title={path}
        aside={value && <span class={`status s${Math.floor(value.status / 100)}`}>{value.status}</span>}
      >
        <Failed error={error} />
        {value && <Body text={value.text} label={`The answer of ${path}`} />}
      </Card>
    </div>
  )
}
