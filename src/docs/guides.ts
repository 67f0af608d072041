import alerts from '../../docs/operate/alerts.yml' with { type: 'file' }
import compose from '../../docs/operate/compose.yaml' with { type: 'file' }
import composePostgres from '../../docs/operate/compose-postgres.yaml' with { type: 'file' }
import dashboard from '../../docs/operate/dashboard.json' with { type: 'file' }
import desk from '../../docs/operate/desk.md' with { type: 'file' }
import moreThanOneMachine from '../../docs/operate/more-than-one-machine.md' with { type: 'file' }
import drill from '../../docs/operate/restore-drill.sh' with { type: 'file' }
import runningLive from '../../docs/operate/running-live.md' with { type: 'file' }
import unit from '../../docs/operate/scrip.service' with { type: 'file' }
import backupUnit from '../../docs/operate/scrip-backup.service' with { type: 'file' }
import ci from '../../docs/start/ci.md' with { type: 'file' }
import junit from '../../docs/start/fixtures/ScripExtension.java' with { type: 'file' }
import pytest from '../../docs/start/fixtures/scrip_sandbox.py' with { type: 'file' }
import quickstart from '../../docs/start/quickstart.md' with { type: 'file' }
import testRunners from '../../docs/start/test-runners.md' with { type: 'file' }
import agents from '../../docs/use/agents.md' with { type: 'file' }
import clients from '../../docs/use/clients.md' with { type: 'file' }
import errors from '../../docs/use/errors.md' with { type: 'file' }
import flags from '../../docs/use/flags.md' with { type: 'file' }
import money from '../../docs/use/money.md' with { type: 'file' }
import testing from '../../docs/use/testing-with-scrip.md' with { type: 'file' }
import webhooks from '../../docs/use/webhooks.md' with { type: 'file' }

/** The guides of docs/ and the files that they name, from the executable. */

interface Guide {
  /** The folder of docs/ that it stands in. */
  task: 'Start' | 'Use' | 'Operate'
  title: string
  about: string
  /** The path of the file in the executable. */
  file: string
  /** The guide does not mention the sandbox, so live mode shows it. */
  isLive?: true
}

/** Guides by the names of their files, in the order of their tasks. */
export const GUIDES: Readonly<Record<string, Guide>> = {
  quickstart: { task: 'Start', title: 'Quickstart', about: 'from installation to a passing test', file: quickstart },
  'test-runners': {
    task: 'Start',
    title: 'Test runners',
    about: 'a world for each test, in seven runners',
    file: testRunners,
  },
  ci: { task: 'Start', title: 'Continuous integration', about: 'recipes for pipelines', file: ci },
  'testing-with-scrip': {
    task: 'Use',
    title: 'Testing with Scrip',
    about: 'test a client with the sandbox',
    file: testing,
  },
  webhooks: { task: 'Use', title: 'Webhooks', about: 'receive, verify and test events', file: webhooks },
  money: { task: 'Use', title: 'Money', about: 'how charges and fees are computed', file: money },
  errors: { task: 'Use', title: 'Errors', about: 'every error, and what to do', file: errors },
  clients: { task: 'Use', title: 'Clients', about: 'clients in several languages', file: clients, isLive: true },
  agents: { task: 'Use', title: 'Coding agents', about: 'let a coding agent work in a sandbox', file: agents },
  flags: { task: 'Use', title: 'Commands and flags', about: 'all commands and flags', file: flags },
  'running-live': {
    task: 'Operate',
    title: 'Live mode',
    about: 'run Scrip in live mode',
    file: runningLive,
    isLive: true,
  },
  desk: { task: 'Operate', title: 'Desk', about: 'a page for the operator', file: desk, isLive: true },
  'more-than-one-machine': {
    task: 'Operate',
    title: 'More than one machine',
    about: 'keep the record in PostgreSQL',
    file: moreThanOneMachine,
    isLive: true,
  },
}

interface GuideFile {
  /** Its name for `scrip docs`. */
  topic: string
  about: string
  file: string
  /** It is for tests with a sandbox, so that live mode does not show it. */
  isOfSandbox?: true
}

/** Files by their paths in links of guides, which are their paths on a server too. */
export const FILES: Readonly<Record<string, GuideFile>> = {
  'scrip.service': { topic: 'systemd', about: 'a unit for systemd', file: unit },
  'scrip-backup.service': { topic: 'systemd-backup', about: 'a unit for hourly backups', file: backupUnit },
  'compose.yaml': { topic: 'compose', about: 'a compose file for Docker', file: compose },
  'compose-postgres.yaml': {
    topic: 'compose-postgres',
    about: 'a compose file with PostgreSQL, two servers and a proxy',
    file: composePostgres,
  },
  'alerts.yml': { topic: 'alerts', about: 'alert rules for Prometheus', file: alerts },
  'dashboard.json': { topic: 'dashboard', about: 'a dashboard for Grafana', file: dashboard },
  'restore-drill.sh': { topic: 'drill', about: 'a script that proves that backups can be restored', file: drill },
  'fixtures/scrip_sandbox.py': { topic: 'pytest', about: 'a fixture for pytest', file: pytest, isOfSandbox: true },
  'fixtures/ScripExtension.java': { topic: 'junit', about: 'an extension for JUnit 5', file: junit, isOfSandbox: true },
}

export const filesOf = (isLive: boolean): typeof FILES =>
  isLive ? Object.fromEntries(Object.entries(FILES).filter(([, one]) => !one.isOfSandbox)) : FILES

export type Guides = typeof GUIDES

export const guidesOf = (isLive: boolean): Guides =>
  isLive ? Object.fromEntries(Object.entries(GUIDES).filter(([, guide]) => guide.isLive)) : GUIDES

/** The guides for programs that read Markdown, in the format of llmstxt.org. */
export const llmsText = (url: string, guides: Guides): string =>
  `# Scrip

> A B2B rewards API: gift cards, orders, wallets, beneficiaries and payouts over HTTP and JSON.

## Guides

${Object.entries(guides)
  .map(([name, { title, about }]) => `- [${title}](${url}/docs/guides/${name}.md): ${about}`)
  .join('\n')}

## Reference

- [OpenAPI document](${url}/openapi.json): every operation, schema, error and event
`
