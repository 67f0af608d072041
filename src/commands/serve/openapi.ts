import { createApp } from '../../app/app.ts'
import { type Config, urlOf } from '../../config/config.ts'
import { systemClock } from '../../kernel/clock.ts'
import { createLog } from '../../observability/log.ts'
import { assemble } from '../../start/assemble.ts'

export const printOpenApi = async (config: Config): Promise<void> => {
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock: systemClock, write: () => undefined })
  const platform = assemble({ ...config, dataDir: undefined }, systemClock, log)
  const publicUrl = config.publicUrl ?? urlOf(config.host, config.port)
  const { app } = createApp(platform.deps({ publicUrl, addressOf: () => '', isClosing: () => false }))
  const response = await app.handle(new Request('http://localhost/openapi.json'))
  process.stdout.write(`${JSON.stringify(await response.json(), null, 2)}\n`)
  platform.close()
}
