import { visibleLines as visible } from '../../../../kernel/visible.ts'
import { ask } from '../api.ts'
import { act } from '../notices.tsx'
import { Card } from '../ui.tsx'

/** Makes a world again, from a file of requests. */
export const ScenarioCard = ({ world }: { world: string }) => {
  const upload = async (file: File | undefined) => {
    if (!file) return
    const headers = { 'content-type': 'application/json' }
    await act(
      async () => ask('PUT', '/scenario', { world, text: await file.text(), headers }),
      `${world} is as in ${visible(file.name)}`,
    )
  }
  return (
    <Card title={`Scenario of ${world}`}>
      <p class="soft">A list of requests in a JSON file. They are sent in order to a fresh world.</p>
      <label class="button">
        Load a file
        <input
          type="file"
          class="hidden"
          accept=".json"
          onChange={(event) => {
            void upload(event.currentTarget.files?.[0])
            event.currentTarget.value = ''
          }}
        />
      </label>
    </Card>
  )
}
