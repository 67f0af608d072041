import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Customer, codesOf, Office } from './live.ts'
import { type Running, run } from './program.ts'

/**
 * The usual mistakes of operators, and what the program says: what is wrong, a colon, and the next step. Commands are typed
 * in a folder with a live server on `data`, which has sold order 1 and completed payout PAYOUT.
 */
const MISTAKES: [mistake: string, command: string, exitCode: number, message: string][] = [
  // Which data
  ['no data folder is named', 'client list', 2, 'say whose data: --data-dir, or the variable SCRIP_DATA_DIR'],
  [
    'the data folder does not exist',
    'client list --data-dir dta',
    4,
    'dta holds no database: check the name, or make one with scrip client add NAME --data-dir dta.',
  ],
  [
    'the folder is in use',
    'serve --mode live --data-dir data --port 0',
    4,
    'data: Another scrip serve works on this folder: stop it first, or name another folder.',
  ],
  [
    'the port is taken',
    'serve --port PORT',
    3,
    'cannot bind 127.0.0.1:PORT, because another program uses the port: stop it, or choose another one. Port 0 takes a free one.',
  ],
  // How it is typed
  ['a command is mistyped', 'clinet list', 2, 'there is no command clinet\nDid you mean client?\nTry scrip --help.'],
  [
    'a flag is mistyped',
    'orders list --statsu PENDING --data-dir data',
    2,
    "unknown option '--statsu'\nDid you mean --status?\nTry scrip orders list --help.",
  ],
  [
    'a month is no month',
    'statement acme --month 2026-13 --data-dir data',
    2,
    "option '--month <month>' argument '2026-13' is invalid. A month looks like 2026-11.\nTry scrip statement --help.",
  ],
  [
    'an amount has separators',
    'wallet fund 1 1,000 --data-dir data',
    2,
    '1,000 is not an amount of USD: write digits, and at most 2 more after a point, such as 1000.50.',
  ],
  [
    'an amount has too many decimals',
    'wallet fund 1 0.001 --data-dir data',
    2,
    '0.001 is not an amount of USD: write digits, and at most 2 more after a point, such as 1000.50.',
  ],
  ['an amount has a sign', 'wallet fund 1 -5 --data-dir data', 2, '-5 is not above zero: scrip wallet adjust deducts.'],
  [
    'a currency does not exist',
    'wallet add acme EURO --data-dir data',
    2,
    'No circulating currency has the code EURO: write the three letters of ISO 4217, such as EUR.',
  ],
  // Which record
  [
    'there is no such client',
    'client disable acmee --data-dir data',
    1,
    'There is no client acmee: see scrip client list.',
  ],
  [
    'the client exists already',
    'client add acme --data-dir data',
    1,
    'There is a client acme already: scrip client rotate gives it a new password.',
  ],
  [
    'the client has records',
    'client remove acme --data-dir data',
    1,
    'acme has records, which are kept: disable it instead with scrip client disable acme.',
  ],
  [
    'the wallet has too little',
    'wallet adjust 1 -9999 --data-dir data',
    1,
    'Insufficient wallet balance: see scrip wallet list.',
  ],
  [
    'the order is delivered already',
    'orders deliver 1 --data-dir data',
    1,
    'Order 1 is DELIVERED, and cannot be changed like this: scrip orders refund 1 gives its money back.',
  ],
  [
    'the payout is completed already',
    'payouts cancel PAYOUT --data-dir data',
    1,
    'Payout PAYOUT is completed, and cannot be changed like this: scrip payouts return PAYOUT gives its money back.',
  ],
  // Which file
  [
    'a file does not exist',
    'catalog import catalogue.json --data-dir data',
    4,
    'catalogue.json does not exist: check its name and its folder.',
  ],
  ['a file is a folder', 'vouchers import data --data-dir data', 4, 'data is a folder: name a file.'],
  [
    'a catalog has a comma too many',
    'catalog validate comma.json',
    4,
    'comma.json: The catalog has 1 problem:\nline 3, not JSON: property name expected',
  ],
  [
    'codes were imported before',
    'vouchers import codes.jsonl --data-dir data',
    4,
    'codes.jsonl: The codes have 1 problem:\nline 1: card_number: was imported before',
  ],
  [
    'a backup would overwrite a file',
    'backup codes.jsonl --data-dir data',
    1,
    'codes.jsonl exists already, and a backup overwrites nothing: name another file, or a folder.',
  ],
  [
    'a foreign file is verified',
    'verify noise',
    4,
    'noise is not a database of Scrip: name a file that scrip backup has written.',
  ],
  [
    'a foreign file is restored',
    'restore noise --data-dir other',
    4,
    'noise is not a database of Scrip: name a file that scrip backup has written.',
  ],
  [
    'a restore would replace data that is served',
    'restore backup.sqlite --force --data-dir data',
    4,
    'data: A scrip serve or another command works on this folder: stop it first, or name another folder.',
  ],
]

const folder = mkdtempSync(join(tmpdir(), 'scrip-mistakes-'))
let server: Running
let filled: (text: string) => string

beforeAll(async () => {
  const office = new Office(folder)
  const credentials = await office.stocked()
  office.file('codes.jsonl', codesOf(1, 'TEA-1'))
  office.file('comma.json', '{\n  "products": [\n    {"id": 1,}\n  ]\n}\n')
  office.file('noise', 'x'.repeat(8_192))
  await office.answer('backup', join(folder, 'backup.sqlite'))
  server = await office.serve()
  const customer = await Customer.of(server, credentials)
  await customer.order(1, 1)
  const { id } = await customer.payout('p-1')
  await office.answer('payouts', 'advance', id, '--to', 'completed')
  filled = (text) => text.replaceAll('PAYOUT', id).replaceAll('PORT', new URL(server.url).port)
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

describe('the program says what is wrong, and what to do next, if', () => {
  test.each(MISTAKES)('%s: scrip %s', async (_, command, exitCode, message) => {
    const ended = await run(filled(command).split(' '), { cwd: folder })
    expect(ended).toEqual({ exitCode, stdout: '', stderr: `scrip: ${filled(message)}\n` })
  })
})
