import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { commandLine } from '../../src/commands/command-line.ts'
import { offersFor } from '../../src/commands/help/completion.ts'
import { COMMAND, folderTest, inFolder, run } from '../program.ts'
import { type Credentials, Customer, type Operator, operatorTest, stockedTest } from './live.ts'

/** The program's behaviour towards a person at a terminal. */

const WIDTH_MAX = 80

interface Entry {
  path: string[]
  command: Command
}

const commandsBelow = (command: Command, path: string[] = []): Entry[] => [
  { path, command },
  ...command.commands.flatMap((below) => commandsBelow(below, [...path, below.name()])),
]
const entries = commandsBelow(await commandLine({}))

/** The output of `--help` of a command. */
const helpOf = ({ command }: Entry): string => {
  let text = ''
  command.configureOutput({ writeOut: (piece) => (text += piece) }).outputHelp()
  return Bun.stripANSI(text)
}

const tooWide = (text: string): string[] => text.split('\n').filter((line) => Bun.stringWidth(line) > WIDTH_MAX)

const HEIGHT = 24

/** Runs the program at a terminal of some width, and returns its whole output. A server ends after some work. */
const atTerminal = async (
  args: string[],
  env: Record<string, string> = {},
  cols = 120,
  work: (url: string) => Promise<unknown> = async () => undefined,
): Promise<string> => {
  let screen = ''
  const decoder = new TextDecoder()
  const child = Bun.spawn([...COMMAND, ...args], {
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
    terminal: {
      cols,
      rows: HEIGHT,
      data: (_, bytes) => {
        screen += decoder.decode(bytes, { stream: true })
      },
    },
  })
  if (args.includes('--port')) {
    while (!/ready url=\S+ /.test(screen)) await Bun.sleep(20)
    await work(/ready url=(\S+)/.exec(screen)?.[1] ?? '')
    child.kill('SIGTERM')
  }
  await child.exited
  await Bun.sleep(50) // the rest of the output
  return screen
}

describe('--help', () => {
  const helps = entries.map((entry) => ({ path: ['scrip', ...entry.path].join(' '), text: helpOf(entry) }))

  test('of every command fits 80 columns and has examples', () => {
    for (const { path, text } of helps) {
      expect({ path, tooWide: tooWide(text) }).toEqual({ path, tooWide: [] })
      const [, examples = ''] = text.split('\nExamples:\n')
      expect({ path, examples: examples.split('\n')[0] }).toEqual({
        path,
        examples: expect.stringMatching(new RegExp(`^ {2}(?:source <\\()?${path}`)),
      })
    }
  })

  test('has no example with an unknown flag', () => {
    const lines = helps.flatMap(({ text }) =>
      (text.split('\nExamples:\n')[1]?.split('\n\n')[0] ?? '').split('\n').filter((line) => line.startsWith('  scrip')),
    )
    expect(lines.length).toBeGreaterThan(entries.length)
    for (const line of lines) {
      const words = (line.split(' -- ')[0] ?? '').trim().split(' ')
      const entry = entries
        .filter(({ path }) => path.every((name, index) => words[index + 1] === name))
        .sort((one, other) => other.path.length - one.path.length)[0]
      const known = entry?.command.options.map(({ long }) => long)
      expect({ line, unknown: words.filter((word) => word.startsWith('--') && !known?.includes(word)) }).toEqual({
        line,
        unknown: [],
      })
    }
  })
})

test.each([
  [['wait', '--no-such'], 'Try scrip wait --help.'],
  [['completion', 'tcsh'], 'It is one of bash, zsh, fish.'],
  [['wallet', 'fnud'], 'Did you mean fund?'],
])('%p prints the next step, or asks whether another word was meant: %s', async (args, words) => {
  const { exitCode, stdout, stderr } = await run(args)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toStartWith('scrip: ')
  expect(stderr).toContain(words)
})

describe('scrip on a terminal', () => {
  const plain = { NO_COLOR: '1' }
  const linesOf = (screen: string) => screen.trimEnd().split('\r\n')

  test('greets in five lines: address, credentials and how to stop; without colours under NO_COLOR', async () => {
    const screen = await atTerminal(['--port', '0'], plain, WIDTH_MAX)
    expect(screen).not.toContain('\x1b[')
    const lines = linesOf(screen)
    const [, url] = /^ready url=(\S+) /.exec(lines[0] ?? '') ?? []
    expect(lines.slice(1, 5)).toEqual([
      `Open    ${url}`,
      'Log in  sandbox / sandbox, or sbx_NAME and any password for a world of your own',
      'Data    in memory; --data-dir DIR keeps it',
      'Stop    Ctrl+C',
    ])
    expect(tooWide(lines.slice(1, 5).join('\n'))).toEqual([])
  })

  folderTest('in live mode shows the way to a client and the data folder', async (folder) => {
    const lines = linesOf(await atTerminal(['--port', '0', '--mode', 'live', '--data-dir', folder], plain, WIDTH_MAX))
    expect(lines.slice(1, 5).join('\n')).not.toMatch(/sandbox|sbx/)
    expect(lines.slice(1, 5)).toEqual([
      expect.stringMatching(/^Open {4}http.*\/docs$/),
      'Log in  as a client: scrip client add NAME prints its password',
      `Data    ${folder}`,
      'Stop    Ctrl+C',
    ])
  })

  test('writes one line for a request, in columns, cut at the width', async () => {
    const ask = async (url: string) => {
      await fetch(`${url}/status`)
      await fetch(`${url}/auth/login`, { method: 'POST', body: '{}' })
      await fetch(`${url}/api/v1/products/1/availability`, { method: 'DELETE' })
    }
    const lines = linesOf(await atTerminal(['--port', '0'], plain, 52, ask)).slice(5, 8)
    expect(lines).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d GET {4}200 +\d+\.\d ms {2}\/status/),
      expect.stringMatching(/^\d\d:\d\d:\d\d POST {3}400 +\d+\.\d ms {2}\/auth\/login/),
      expect.stringMatching(/^\d\d:\d\d:\d\d DELETE 401 +\d+\.\d ms {2}\(no route\)/),
    ])
    expect(new Set(lines.map((line) => line.indexOf(' ms '))).size).toBe(1)
    expect(lines.filter((line) => Bun.stringWidth(line) > 52)).toEqual([])
    const [narrow = ''] = linesOf(await atTerminal(['--port', '0'], plain, 36, ask)).slice(-3)
    expect(narrow).toEndWith('…')
  })
})

describe('a list on a terminal', () => {
  const DAY = String.raw`\d{4}-\d\d-\d\d`
  const listed = async (operator: Operator, customer: Credentials, ...references: string[]) => {
    await using server = await operator.serve()
    const trading = await Customer.of(server, customer)
    for (const reference of references) await trading.payout(reference)
  }
  const linesAt = async (operator: Operator, width: number, ...words: string[]) =>
    (await atTerminal([...words, '--data-dir', operator.dataDir], {}, width)).trimEnd().split('\r\n')

  stockedTest('is one line a record at 80 columns: the id whole, others cut', async (operator, customer) => {
    await listed(operator, customer, 'invoice-2026-11-0001', 'a salary with a long text behind it')
    const [head, ...lines] = await linesAt(operator, WIDTH_MAX, 'payouts', 'list')
    expect(head?.split(/ +/)).toEqual([
      'id',
      'client',
      'status',
      'amount',
      expect.stringMatching(/^ref.*…$/),
      'created_at',
    ])
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(`^pyt_[0-9a-z]{25} {2}acme {2,}created {2}100\\.00 USD {2}a salary?.*… +${DAY}`),
      ),
      expect.stringMatching(
        new RegExp(`^pyt_[0-9a-z]{25} {2}acme {2,}created {2}100\\.00 USD {2}invo.*….*001 +${DAY}`),
      ),
      '2 in all.',
    ])
  })

  stockedTest('never wraps, whatever it lists and however narrow the terminal is', async (operator, customer) => {
    await listed(operator, customer, 'r'.repeat(100), '日本語'.repeat(20))
    for (const words of [
      ['payouts', 'list'],
      ['transactions'],
      ['audit', 'list'],
      ['wallet', 'list'],
      ['client', 'list'],
      ['vouchers', 'list'],
      ['statement', 'acme', '--month', month()],
    ])
      for (const width of [WIDTH_MAX, 120, 40, 10]) {
        const lines = await linesAt(operator, width, ...words)
        const rows = await operator.json<{ lines?: object[] }[]>(...words)
        const statementLines = rows.flatMap(({ lines: moved }) => (moved ? moved.length + 2 : []))[0]
        const total = words[0] === 'statement' ? 0 : 1
        expect({
          words,
          width,
          count: lines.length,
          tooWide: lines.slice(0, total && -1).filter((line) => Bun.stringWidth(line) > width),
        }).toEqual({
          ...{ words, width, tooWide: [] },
          count: 1 + (statementLines ?? rows.length) + total,
        })
      }
  })

  stockedTest('has every column, uncut, with --wide; so has a pipe', async (operator, customer) => {
    await listed(operator, customer, 'invoice-2026-11-0001')
    for (const words of [['payouts', 'list'], ['transactions'], ['audit', 'list']]) {
      const [row = {}] = await operator.json<object[]>(...words)
      const [head, ...wide] = await linesAt(operator, WIDTH_MAX, ...words, '--wide')
      expect(head?.split(/ +/).filter((name) => name !== '')).toEqual(Object.keys(row))
      expect((await operator.run(words)).stdout.trimEnd().split('\n').slice(1)).toEqual(wide.slice(0, -1))
    }
  })

  stockedTest('is lines of name and value for one record, shown whole', async (operator) => {
    for (const words of [
      ['client', 'show', 'acme'],
      ['wallet', 'show', '1'],
      ['transactions', 'show', '1'],
      ['audit', 'show', '1'],
    ]) {
      const row = await operator.json(...words)
      const lines = await linesAt(operator, WIDTH_MAX, ...words)
      for (const name of Object.keys(row)) expect(lines.join('\n')).toMatch(new RegExp(`^${name} +\\S`, 'm'))
    }
    for (const [words, refusal] of [
      [['wallet', 'show', '9'], 'scrip: there is no wallet 9\nSee scrip wallet list.\n'],
      [['transactions', 'show', '99'], 'scrip: there is no transaction 99\nSee scrip transactions.\n'],
      [['audit', 'show', '99'], 'scrip: there is no row of the audit 99\nSee scrip audit list.\n'],
      [['webhooks', 'show', 'whk_0'], 'scrip: there is no webhook whk_0\nSee scrip webhooks list.\n'],
    ] as const)
      expect(await operator.run([...words])).toEqual({ exitCode: 1, stdout: '', stderr: refusal })
  })
})

stockedTest('a noun in the plural takes the singular too', async (operator) => {
  for (const [one, many] of [
    [
      ['order', 'list'],
      ['orders', 'list'],
    ],
    [['transaction'], ['transactions']],
    [
      ['voucher', 'list'],
      ['vouchers', 'list'],
    ],
    [
      ['webhook', 'list'],
      ['webhooks', 'list'],
    ],
  ] as const)
    expect(await operator.json(...one)).toEqual(await operator.json(...many))
})

test('scrip help groups what a test needs under Test, and scrip run --help begins with what only it has', async () => {
  const { stdout } = await run(['--help'])
  const [, tests = ''] = /\nTest:\n((?: .*\n)+)/.exec(stdout) ?? []
  expect([...tests.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)).toEqual([
    'run',
    'listen',
    'trigger',
    'compare',
    'mcp',
    'requests',
  ])
  const [, options = ''] = (await run(['run', '--help'])).stdout.split('Options:\n')
  expect([...options.matchAll(/^ {2}--([\w-]+)/gm)].slice(0, 9).map(([, name]) => name)).toEqual([
    'coverage',
    'coverage-min',
    'explore',
    'explore-max',
    'explore-jobs',
    'explore-timeout',
    'journal',
    'summary',
    'on',
  ])
})

operatorTest('a list shows the first 100 records, the newest first, and how many there are', async (operator) => {
  await operator.json('client', 'add', 'acme')
  using sqlite = new Database(join(operator.dataDir, 'scrip.sqlite'))
  sqlite.run(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
    INSERT INTO wallets (client_id, currency_id, type, amount_minor, is_default, created_at_ms, updated_at_ms)
    SELECT 1, (SELECT min(id) FROM currencies), 'PREPAID', 0, i = 2, i, i FROM n`)
  const shown = async (...args: string[]) => {
    const lines = (await atTerminal(['wallet', 'list', ...args, '--data-dir', operator.dataDir], {}, 1_000)).split(
      '\r\n',
    )
    return [lines.length - 3, lines.at(-2)]
  }
  expect(await shown()).toEqual([100, '100 of 119: --limit shows more.'])
  expect(await shown('--limit', '5')).toEqual([5, '5 of 119: --limit shows more.'])
  expect(await shown('--limit', '200')).toEqual([119, '119 in all.'])
  expect(await operator.json<{ id: number }[]>('wallet', 'list')).toHaveLength(119)
})

const month = (): string => new Date().toISOString().slice(0, 7)

/** The words that the completion of a shell offers. */
const SHELLS: Record<string, (file: string, line: string[]) => string[]> = {
  bash: (file, line) => [
    'bash',
    '-c',
    `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _scrip; printf '%s\\n' "\${COMPREPLY[@]}"`,
    file,
    ...line,
  ],
  zsh: (file, line) => [
    'zsh',
    '-fc',
    // The completion of zsh works only where it edits a line, so its candidates are printed instead.
    `compdef() { }
     compadd() { print -l -- "\${@:2}" }
     _files() { print files "$@" }
     . "$1"; words=("\${@:2}"); CURRENT=$#words; _scrip`,
    'zsh',
    file,
    ...line,
  ],
  fish: (file, line) => ['fish', '-Nc', `source ${file}; complete -C '${line.join(' ')}' | cut -f 1`],
}

/** The candidates that a shell with our completion offers for a line, in a folder that holds the script and the program. */
const completed = async (shell: string, line: readonly string[]): Promise<string[]> => {
  let offered: string[] = []
  await inFolder(async (folder) => {
    const { exitCode, stdout, stderr } = await run(['completion', shell])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const [file, scrip] = [join(folder, 'completion'), join(folder, 'scrip')]
    writeFileSync(file, stdout)
    mkdirSync(join(folder, 'src'))
    writeFileSync(scrip, `#!/bin/sh\nexec ${COMMAND.map((word) => `'${word}'`).join(' ')} "$@"\n`, { mode: 0o755 })
    const [command = '', ...args] = SHELLS[shell]?.(file, ['scrip', ...line]) ?? []
    const env = { ...process.env, HOME: folder, PATH: `${folder}:${process.env.PATH}` }
    const ended = spawnSync(command, args, { encoding: 'utf8', cwd: folder, env })
    expect({ stderr: ended.stderr, status: ended.status }).toEqual({ stderr: '', status: 0 })
    offered = ended.stdout.split('\n').filter((word) => word !== '')
  })
  return offered
}

describe.each(Object.keys(SHELLS))('completion %s', (shell) => {
  const offered = async (...line: string[]): Promise<string[]> =>
    (await completed(shell, line)).filter((word) => word.startsWith(line.at(-1) ?? ''))

  test.skipIf(!Bun.which(shell))('completes commands, subcommands, flags and values', async () => {
    for (const [line, words] of [
      ['wa', ['wait', 'wallet']],
      ['client ', ['add', 'disable', 'discount', 'enable', 'feature', 'limits', 'list', 'rotate']],
      ['--rate', ['--rate-limit', '--rates']],
    ] as const)
      expect({ line, offered: await offered(...line.split(' ')) }).toEqual({
        line,
        offered: expect.arrayContaining([...words]),
      })
    for (const [line, word] of [
      ['wallet add --p', '--postpaid'],
      ['wallet list --l', '--limit'],
      ['serve --mode l', 'live'],
      ['completion f', 'fish'],
      ['help wall', 'wallet'],
      ['--scenario bus', 'busy-month'],
      ['wallet f', 'fund'],
      ['trigger payout.f', 'payout.failed'],
    ] as const)
      expect({ line, offered: await offered(...line.split(' ')) }).toEqual({ line, offered: [word] })
    const levels = (await offered('serve', '--log-level', '')).filter((word) => word !== 'completion')
    expect(levels.sort()).toEqual(['debug', 'error', 'info', 'warn'])
    expect((await offered('orders', 'list', '--status', '')).filter((word) => word === 'PENDING')).toHaveLength(1)
  })
})

test('completion offers every command and flag', async () => {
  const program = await commandLine({})
  for (const { path, command } of entries) {
    const flags = offersFor(program, [...path, '-'])
    const visible = command.options.filter(({ hidden }) => !hidden).map(({ long }) => `${long}`)
    expect(flags).toEqual(expect.arrayContaining([...visible, '--help']))
    const offered = offersFor(program, [...path.slice(0, -1), ''])
    expect(offered).toContain(path.at(-1) ?? 'serve')
  }
})

test('ends silently if the reader closes the pipe', () => {
  const { stderr } = spawnSync('sh', ['-c', `"$@" | head -c 10`, 'sh', ...COMMAND, 'openapi'], { encoding: 'utf8' })
  expect(stderr).toBe('')
})

describe('texts of clients', () => {
  /** Clears the screen, rings, turns the rest of the line around, and ends in another line separator. */
  const HOSTILE = 'p-\u001b[2J\u0007\u202egpj.exe\u2066\u009b31m\u2028x'
  const SHOWN = 'p-\\u{1b}[2J\\u{7}\\u{202e}gpj.exe\\u{2066}\\u{9b}31m\\u{2028}x'

  stockedTest('are shown in tables and records with control characters escaped', async (operator, customer) => {
    const server = await operator.serve()
    await (await Customer.of(server, customer)).payout(HOSTILE)
    await server.stop()
    const [table, json] = await Promise.all([
      operator.run(['payouts', 'list']),
      operator.run(['payouts', 'list', '--json']),
    ])
    expect(table.stdout).toContain(SHOWN)
    const obeyed = /[^\P{Cc}\n]|\p{Bidi_Control}|[\u2028\u2029]/u
    expect(obeyed.exec(table.stdout)).toBeNull()
    expect(/[^\P{Cc}\n]|\p{Bidi_Control}/u.exec(json.stdout)).toBeNull()
    expect((JSON.parse(json.stdout) as { reference_id: string }[])[0]?.reference_id).toBe(HOSTILE)
  })

  stockedTest('are escaped in CSV on a terminal, and written as they are to a file', async (operator, customer) => {
    const server = await operator.serve()
    await (await Customer.of(server, customer)).payout(HOSTILE)
    await server.stop()
    const args = ['payouts', 'list', '--csv', '--data-dir', operator.dataDir]
    const screen = await atTerminal(args)
    expect(screen).toContain(`,${SHOWN},`)
    expect(/[^\P{Cc}\r\n]|\p{Bidi_Control}|[\u2028\u2029]/u.exec(screen)).toBeNull()
    expect((await run(args)).stdout).toContain(`,${HOSTILE},`)
  })

  test('are also escaped in errors', async () => {
    const { stderr } = await run([`no\u001b[2J\u202esuch`])
    expect(stderr).toBe("scrip: unknown command 'no\\u{1b}[2J\\u{202e}such'\nTry scrip --help.\n")
    expect((await run(['--no\u001b[2Jsuch'])).stderr).toContain("'--no\\u{1b}[2Jsuch'")
  })
})
