import type { Command } from 'commander'

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  scrip: ['scrip', 'scrip run -- npm test', 'scrip help worlds'],
  'scrip serve': [
    'scrip serve --port 0 --ready-file url.txt',
    'scrip serve --data-dir data --rate-limit off',
    'scrip serve --mode live --data-dir /var/lib/scrip --metrics-port 9464',
  ],
  'scrip run': [
    'scrip run -- npm test',
    'scrip run --rate-limit off --seed ci --coverage coverage.json -- pytest',
    'scrip run --world checkout --fail-under 60 -- go test ./...',
  ],
  'scrip health': ['scrip health', 'scrip health --url https://rewards.example.com'],
  'scrip wait': ['scrip wait --timeout 30s', 'scrip wait --port 8080'],
  'scrip client': ['scrip client add acme --data-dir data', 'scrip client list --data-dir data --json'],
  'scrip client add': ['scrip client add acme --data-dir data'],
  'scrip client list': ['scrip client list --data-dir data'],
  'scrip client rotate': ['scrip client rotate acme --data-dir data'],
  'scrip client disable': ['scrip client disable acme --data-dir data'],
  'scrip client enable': ['scrip client enable acme --data-dir data'],
  'scrip client feature': ['scrip client feature acme vouchers off --data-dir data'],
  'scrip client limit': ['scrip client limit acme 50 --data-dir data', 'scrip client limit acme off --data-dir data'],
  'scrip client discount': ['scrip client discount acme 1 7.5 --data-dir data'],
  'scrip wallet': ['scrip wallet add acme USD --data-dir data', 'scrip wallet fund 1 25000 --data-dir data'],
  'scrip wallet add': [
    'scrip wallet add acme USD --data-dir data',
    'scrip wallet add acme EUR --postpaid 5000 --data-dir data',
  ],
  'scrip wallet list': ['scrip wallet list acme --data-dir data'],
  'scrip wallet fund': ["scrip wallet fund 1 25000 --remarks 'Invoice 118' --data-dir data"],
  'scrip wallet adjust': ["scrip wallet adjust 1 -12.50 --remarks 'Charged twice' --data-dir data"],
  'scrip catalog': ['scrip catalog validate catalog.json', 'scrip catalog import catalog.json --data-dir data'],
  'scrip catalog schema': ['scrip catalog schema > catalog.schema.json'],
  'scrip catalog validate': ['scrip catalog validate catalog.json'],
  'scrip catalog import': ['scrip catalog import catalog.json --data-dir data'],
  'scrip catalog export': ['scrip catalog export > seeded.json', 'scrip catalog export mine.json --data-dir data'],
  'scrip vouchers': ['scrip vouchers import codes.jsonl --data-dir data', 'scrip vouchers list --data-dir data'],
  'scrip vouchers import': ['scrip vouchers import codes.jsonl --data-dir data'],
  'scrip vouchers rekey': ['scrip vouchers rekey --data-dir data'],
  'scrip vouchers list': ['scrip vouchers list --data-dir data'],
  'scrip rates': ['scrip rates set USD/EUR=0.92 --data-dir data', 'scrip rates list --data-dir data'],
  'scrip rates set': [
    'scrip rates set USD/EUR=0.92 USD/INR=83.5 --data-dir data',
    'scrip rates set --file rates.json --data-dir data',
  ],
  'scrip rates list': ['scrip rates list --data-dir data'],
  'scrip orders': ['scrip orders list --status PENDING --data-dir data', 'scrip orders deliver 7 --data-dir data'],
  'scrip orders list': ['scrip orders list --status PENDING --data-dir data'],
  'scrip orders deliver': ['scrip orders deliver 7 --data-dir data', 'scrip orders deliver 7 3 --data-dir data'],
  'scrip orders fail': ["scrip orders fail 7 --reason 'Sold out' --data-dir data"],
  'scrip payouts': [
    'scrip payouts list --status created --data-dir data',
    'scrip payouts advance pyt_... --to completed --data-dir data',
  ],
  'scrip payouts list': ['scrip payouts list --status created --data-dir data'],
  'scrip payouts show': ['scrip payouts show pyt_... --data-dir data'],
  'scrip payouts advance': [
    'scrip payouts advance pyt_... --data-dir data',
    'scrip payouts advance pyt_... --to completed --data-dir data',
  ],
  'scrip payouts fail': ['scrip payouts fail pyt_... --code account_closed --data-dir data'],
  'scrip payouts return': ['scrip payouts return pyt_... --data-dir data'],
  'scrip backup': ['scrip backup /backup/scrip.sqlite --data-dir data'],
  'scrip restore': ['scrip restore /backup/scrip.sqlite --force --data-dir data'],
  'scrip verify': ['scrip verify --data-dir data', 'scrip verify /backup/scrip.sqlite'],
  'scrip help': ['scrip help worlds', 'scrip help client add'],
  'scrip openapi': ['scrip openapi > openapi.json'],
  'scrip completion': [
    'source <(scrip completion bash)',
    'scrip completion zsh > "$fpath[1]/_scrip"',
    'scrip completion fish > ~/.config/fish/completions/scrip.fish',
  ],
  'scrip version': ['scrip version'],
}

export const withExamples = (command: Command, above = ''): void => {
  const path = above + command.name()
  const examples = EXAMPLES[path] ?? []
  command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`.trimEnd())
  command.showHelpAfterError(`Try ${path} --help.`)
  for (const below of command.commands) withExamples(below, `${path} `)
}
