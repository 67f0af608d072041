import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, run } from '../program.ts'

/** The session of the README is typed unchanged: from login to a delivered voucher and a completed payout. */

const readme = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8')
const session = readme.slice(readme.indexOf('\n## A session\n'), readme.indexOf('\n## Testing with Scrip\n'))
/** Lines that are indented are typed; those that begin with a brace are responses. */
const typed = [...session.matchAll(/^ {4}([^{\s].*)$/gm)].map(([, line = '']) => line)
const hasShell = ['sh', 'curl', 'sed', 'sort', 'uniq', 'grep'].every((command) => Bun.which(command))

test.skipIf(!hasShell)('the session of the README works', () =>
  inFolder(async (cwd) => {
    expect(typed[0]).toBe('api=http://127.0.0.1:4747')
    const script = ['api=$SCRIP_URL', ...typed.slice(1)].join('\n')
    const { exitCode, stdout, stderr } = await run(['run', '--rate-limit', '1000/h,100/m', '--', 'sh', '-c', script], {
      cwd,
    })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const said = [
      /^HTTP\/1\.1 200/,
      /^x-total-count: \d+/im,
      /"total_payable":230\.1,/,
      /"status":"DELIVERED".*"card_number":"TEST[0-9A-Z]{12}".*"card_number":"TEST/,
      /"amount":230\.1,"transaction_type":"DEBIT"/,
      /"reference_id":"bonus-1","status":"created"/,
      /"reference_id":"bonus-1","status":"completed".*"first_name":"Ada"/,
      /"code":"UNAUTHORIZED"/,
      /"message":"Product not found"/,
      /"code":"FORBIDDEN"/,
      /\d+ HTTP\/1\.1 200 OK\r\n *\d+ HTTP\/1\.1 429 Too Many Requests\r\n *\d+ Retry-After: \d+\r\n/,
      /"now":/,
      /200\n$/,
    ]
    let rest = stdout
    for (const words of said) {
      expect(rest).toMatch(words)
      rest = rest.slice(rest.search(words) + 1)
    }
  }),
)
