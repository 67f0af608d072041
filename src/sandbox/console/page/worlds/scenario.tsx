import { addressOf, ask, askText } from '../api.ts'
import { Button } from '../forms.tsx'
import { act, download as save, say } from '../notices.tsx'
import { Card, visible } from '../ui.tsx'

/** A world as a file, to keep or to begin with. */
export const ScenarioCard = ({ world }: { world: string }) => {
  const download = () =>
    act(async () => {
      const text = await askText('GET', '/scenario', { world, headers: { accept: 'application/yaml' } })
      save(text, 'application/yaml', `${world}.yaml`)
    }, `Downloaded ${world}.yaml`)
  const upload = async (file: File | undefined) => {
    if (!file) return
    const type = file.name.endsWith('.json') ? 'application/json' : 'application/yaml'
    await act(
      async () => ask('PUT', '/scenario', { world, text: await file.text(), headers: { 'content-type': type } }),
      `${world} is as in ${visible(file.name)}`,
    )
  }
  return (
    <Card title={`Scenario of ${world}`}>
      <p class="soft">The world as one document: clients, wallets, products, orders, payouts, faults and clock.</p>
      <div class="line">
        <Button text="Download" onClick={download} />
        <label class="file">
          Load a file
          <input
            type="file"
            accept=".yaml,.yml,.json"
            onChange={(event) => {
              void upload(event.currentTarget.files?.[0])
              event.currentTarget.value = ''
            }}
          />
        </label>
        <a href={addressOf('/_sandbox/scenario', { world })} onClick={() => say('Opened as JSON')}>
          Open
        </a>
      </div>
    </Card>
  )
}
