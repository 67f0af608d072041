import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import alerts from '../../docs/alerts.yml' with { type: 'file' }
import ci from '../../docs/ci.md' with { type: 'file' }
import clients from '../../docs/clients.md' with { type: 'file' }
import compose from '../../docs/compose.yaml' with { type: 'file' }
import dashboard from '../../docs/dashboard.json' with { type: 'file' }
import errors from '../../docs/errors.md' with { type: 'file' }
import flags from '../../docs/flags.md' with { type: 'file' }
import money from '../../docs/money.md' with { type: 'file' }
import quickstart from '../../docs/quickstart.md' with { type: 'file' }
import drill from '../../docs/restore-drill.sh' with { type: 'file' }
import runningLive from '../../docs/running-live.md' with { type: 'file' }
import unit from '../../docs/scrip.service' with { type: 'file' }
import backupUnit from '../../docs/scrip-backup.service' with { type: 'file' }
import testing from '../../docs/testing-with-scrip.md' with { type: 'file' }
import webhooks from '../../docs/webhooks.md' with { type: 'file' }
import { choiceArgument } from './arguments.ts'
import { manualOf } from './manual.ts'

/** `scrip docs`: the guides and files of operators, from the executable (contract C17). */

interface Topic {
  about: string
  /** The path of a file in the executable, or what makes the text. */
  text: string | (() => string)
}

export const docsCommand = (program: Command): void => {
  const topics: Readonly<Record<string, Topic>> = {
    quickstart: { about: 'from installation to a passing test', text: quickstart },
    testing: { about: 'test a client with the sandbox', text: testing },
    webhooks: { about: 'receive, verify and test events', text: webhooks },
    ci: { about: 'recipes for pipelines', text: ci },
    live: { about: 'run Scrip in live mode', text: runningLive },
    money: { about: 'how charges and fees are computed', text: money },
    errors: { about: 'every error, and what to do', text: errors },
    clients: { about: 'clients in several languages', text: clients },
    flags: { about: 'all commands and flags', text: flags },
    man: { about: 'the manual page: scrip docs man > scrip.1', text: () => manualOf(program) },
    systemd: { about: 'a unit for systemd', text: unit },
    'systemd-backup': { about: 'a unit for hourly backups', text: backupUnit },
    compose: { about: 'a compose file for Docker', text: compose },
    alerts: { about: 'alert rules for Prometheus', text: alerts },
    dashboard: { about: 'a dashboard for Grafana', text: dashboard },
    drill: { about: 'a script that proves that backups can be restored', text: drill },
  }
  program
    .command('docs')
    .description('print a guide, or a file for operators; without a topic, the list of topics')
    .addArgument(choiceArgument('[topic]', 'the guide or file', Object.keys(topics)))
    .action((name: string | undefined) => {
      const topic = name === undefined ? undefined : topics[name]
      process.stdout.write(topic ? textOf(topic) : listOf(topics))
    })
}

const listOf = (topics: Readonly<Record<string, Topic>>): string => {
  const width = Math.max(...Object.keys(topics).map((name) => name.length))
  return Object.entries(topics)
    .map(([name, { about }]) => `${name.padEnd(width)}  ${about}\n`)
    .join('')
}

const textOf = ({ text }: Topic): string => (typeof text === 'string' ? readFileSync(text, 'utf8') : text())
