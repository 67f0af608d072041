import type { Config } from '../../config/config.ts'
import { DEFAULT_CREDENTIAL } from '../../config/option-table.ts'

/** What a terminal shows below the ready line: the addresses, the credentials, and how to stop. */
export const greetingOf = ({ mode, dataDir }: Config, url: string): string =>
  Object.entries({
    Open: mode === 'sandbox' ? url : `${url}/docs`,
    'Log in': mode === 'sandbox' ? SANDBOX_LOGIN : 'as a client: scrip client add NAME prints its password',
    Data: dataDir ?? 'in memory; --data-dir DIR keeps it',
    Stop: 'Ctrl+C',
  })
    .map(([name, text]) => `${name.padEnd(NAME_WIDTH)}${text}\n`)
    .join('')

const NAME_WIDTH = 8
// In the sandbox, an account's password is its name.
const SANDBOX_LOGIN = `${DEFAULT_CREDENTIAL} / ${DEFAULT_CREDENTIAL}, or sbx_NAME and any password for a world of your own`
