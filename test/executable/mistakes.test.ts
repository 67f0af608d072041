import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { forFile } from '../harness.ts'
import { folderOfFile, run } from '../program.ts'
import { Customer, codesOf, Operator } from './live.ts'

/**
 * The usual mistakes of operators, and the program's messages: a line with the mistake, and below it the next step. Commands are
 * typed in a folder with a live server on `data`, which has sold order 1 and completed payout PAYOUT; DATA is --data-dir data.
 */
const MISTAKES: [mistake: string, command: string, exitCode: number, message: string][] = [
  // The data
  [
    'no data folder is named',
    'client list',
    2,
    'no data folder is given\nSet --data-dir, or the variable SCRIP_DATA_DIR.',
  ],
  [
    'the data folder does not exist',
    'client list --data-dir dta',
    4,
    'dta contains no database\nCheck the name, or create one: scrip client add NAME --data-dir dta.',
  ],
  [
    'the folder is in use',
    'serve --mode live --port 0 DATA',
    4,
    'data: another scrip serve is using this folder\nStop it first, or use another folder.',
  ],
  [
    'the port is taken',
    'serve --port PORT',
    3,
    'cannot bind 127.0.0.1:PORT, because another program uses the port\nStop it, or choose another port; 0 takes a free one.',
  ],
  // The command line
  ['a command is mistyped', 'clinet list', 2, "unknown command 'clinet'\nDid you mean client?\nTry scrip --help."],
  [
    'a flag is mistyped',
    'orders list --statsu PENDING DATA',
    2,
    "unknown option '--statsu'\nDid you mean --status?\nTry scrip orders list --help.",
  ],
  [
    'a month is not a month',
    'statement acme --month 2026-13 DATA',
    2,
    "option '--month <month>' argument '2026-13' is invalid\nA month looks like 2026-11.\nTry scrip statement --help.",
  ],
  [
    'a reason is empty',
    'payouts fail PAYOUT --reason= DATA',
    2,
    "option '--reason <text>' argument '' is invalid\nIt must be at least 1 character long.\nTry scrip payouts fail --help.",
  ],
  [
    'an amount has separators',
    'wallet fund 1 1,000 DATA',
    2,
    "'1,000' is not an amount in USD\nWrite digits, and at most 2 more after a point, such as 1000.50.",
  ],
  [
    'an amount has too many decimals',
    'wallet fund 1 0.001 DATA',
    2,
    'amount must have at most the 2 decimals of USD\nWrite digits, and at most 2 more after a point, such as 1000.50.',
  ],
  ['an amount has a sign', 'wallet fund 1 -5 DATA', 2, '-5 is not above zero\nscrip wallet adjust deducts.'],
  [
    'a currency does not exist',
    'wallet add acme EURO DATA',
    2,
    'currency must be the ISO 4217 code of a circulating currency\nWrite the three letters of ISO 4217, such as EUR.',
  ],
  // The record
  ['there is no such client', 'client disable acmee DATA', 1, 'there is no client acmee\nSee scrip client list.'],
  [
    'the client already exists',
    'client add acme DATA',
    1,
    'client acme already exists\nscrip client rotate acme gives it a new password.',
  ],
  [
    'the client has records',
    'client remove acme DATA',
    1,
    'client acme has records, which are kept\nDisable it instead: scrip client disable acme.',
  ],
  ['the wallet has too little', 'wallet adjust 1 -9999 DATA', 1, 'insufficient wallet balance\nSee scrip wallet list.'],
  [
    'the order is already delivered',
    'orders deliver 1 DATA',
    1,
    'order 1 is DELIVERED already\nscrip orders refund 1 gives its money back.',
  ],
  [
    'the payout is already completed',
    'payouts cancel PAYOUT DATA',
    1,
    'payout PAYOUT is completed, and cannot be changed like this\nscrip payouts return PAYOUT gives its money back.',
  ],
  // The file
  [
    'a file does not exist',
    'catalog import catalogue.json DATA',
    4,
    'catalogue.json does not exist\nCheck its name and its folder.',
  ],
  ['a file is a folder', 'vouchers import data DATA', 4, 'data is a folder\nGive a file.'],
  [
    'a catalog has a comma too many',
    'catalog validate comma.json',
    4,
    'comma.json: the catalog has 1 problem:\nline 3, not JSON: property name expected',
  ],
  [
    'codes were imported before',
    'vouchers import codes.jsonl DATA',
    4,
    'codes.jsonl: the codes have 1 problem:\nline 1: card_number: was imported before',
  ],
  [
    'the data folder of a new client is a file',
    'client add bob --data-dir noise',
    4,
    'noise is a file\nGive a folder.',
  ],
  [
    'a live server is to serve a file',
    'serve --mode live --port 0 --data-dir noise',
    4,
    'noise is a file\nGive a folder.',
  ],
  [
    'a part of the path of a data folder is a file',
    'serve --mode live --port 0 --data-dir noise/data',
    4,
    'noise/data does not exist\nA part of its path is a file: check its name.',
  ],
  [
    'a part of the path of a file to verify is a file',
    'verify noise/backup.sqlite',
    4,
    'noise/backup.sqlite does not exist\nCheck its name and its folder.',
  ],
  [
    'a backup is to be written below a file',
    'backup noise/backup.sqlite DATA',
    4,
    'noise is not a folder\nMake it, or mount its disk, first.',
  ],
  [
    'a backup would overwrite a file',
    'backup codes.jsonl DATA',
    1,
    'codes.jsonl already exists, and a backup overwrites nothing\nUse another file, or a folder.',
  ],
  [
    'a foreign file is verified',
    'verify noise',
    4,
    'noise is not a Scrip database\nGive a file written by scrip backup, or the folder of a server.',
  ],
  [
    'a foreign file is restored',
    'restore noise --data-dir other',
    4,
    'noise is not a Scrip database\nGive a file written by scrip backup, or the folder of a server.',
  ],
  [
    'a restore would replace data that is served',
    'restore backup.sqlite --force DATA',
    4,
    'data: a scrip serve or another command is using this folder\nStop it first, or use another folder.',
  ],
]

const folder = folderOfFile()

const operator = new Operator(folder)
const credentials = await operator.stocked()
operator.file('codes.jsonl', codesOf(1, 'TEA-1'))
operator.file('comma.json', '{\n  "products": [\n    {"id": 1,}\n  ]\n}\n')
operator.file('noise', 'x'.repeat(8_192))
await operator.json('backup', join(folder, 'backup.sqlite'))
const server = forFile(await operator.serve())
const customer = await Customer.of(server, credentials)
await customer.order(1, 1)
const { id } = await customer.payout('p-1')
await operator.json('payouts', 'advance', id, '--to', 'completed')
const filled: (text: string) => string = (text) =>
  text.replaceAll('PAYOUT', id).replaceAll('PORT', new URL(server.url).port)

/** A line without a full stop; below it sentences, or the places in a file. */
const SHAPE = /^[^A-Z].*[^.:\n]\n(?:.+[.?]\n?)+$|:\n(?:line \d+.+\n?)+$/

test('a key whose path leads through a file is named as one that cannot be read, with exit 2', async () => {
  const ended = await run(['serve', '--mode', 'live', '--port', '0', '--data-dir', 'data'], {
    cwd: folder,
    env: { SCRIP_VOUCHER_KEY_FILE: 'noise/key' },
  })
  const stderr = 'scrip: SCRIP_VOUCHER_KEY_FILE: cannot read noise/key\nCheck its name and its permissions.\n'
  expect(ended).toEqual({ exitCode: 2, stdout: '', stderr })
})

describe('the program names the mistake and the next step, if', () => {
  test.each(MISTAKES)('%s: scrip %s', async (_, command, exitCode, message) => {
    const ended = await run(filled(command).replace(/DATA$/, '--data-dir data').split(' '), { cwd: folder })
    expect(ended).toEqual({ exitCode, stdout: '', stderr: `scrip: ${filled(message)}\n` })
    expect(message).toMatch(SHAPE)
  })
})
