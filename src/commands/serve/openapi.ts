import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, urlOf } from '../../config/config.ts'
import type { DOCUMENT_FORMATS } from '../../config/option-table.ts'
import { brunoCollection, postmanCollection } from '../../docs/collections.ts'
import type { ApiDocument } from '../../docs/document.ts'
import { systemClock } from '../../kernel/clock.ts'
import { misused } from '../../kernel/exit.ts'
import { createLog } from '../../observability/log.ts'
import { build } from '../../start/build.ts'
import { open } from '../../start/open.ts'
import { print } from '../terminal/output.ts'

export interface DocumentOptions {
  as: (typeof DOCUMENT_FORMATS)[number]
  /** The folder for a collection of many files. */
  output?: string
}

/** Prints the OpenAPI document, or a collection made from it. @throws ProgramError */
export const printOpenApi = async (config: Config, { as, output }: DocumentOptions): Promise<void> => {
  if ((as === 'bruno') !== (output !== undefined))
    throw misused('--as bruno writes a folder, and the other formats are printed\nUse --output with --as bruno.')
  const publicUrl = config.publicUrl ?? urlOf(config.host, config.port)
  const served = await documentOf(config, publicUrl)
  if (as === 'bruno') writeFolder(output ?? '', brunoCollection(served, publicUrl))
  else await print(jsonText(as === 'postman' ? postmanCollection(served, publicUrl) : served))
}

const jsonText = (document: object): string => `${JSON.stringify(document, null, 2)}\n`

const writeFolder = (folder: string, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

const documentOf = async (config: Config, publicUrl: string): Promise<ApiDocument> => {
  const log = createLog({ level: 'error', format: 'pretty', color: false, clock: systemClock, write: () => undefined })
  const opened = open({ ...config, dataDir: undefined }, systemClock, log)
  const { app } = build(opened, { publicUrl, addressOf: () => '', isClosing: () => false })
  const response = await app.handle(new Request('http://localhost/openapi.json'))
  opened.close()
  return (await response.json()) as ApiDocument
}
