import alerts from '../../docs/operate/alerts.yml' with { type: 'file' }
import behindAProxy from '../../docs/operate/behind-a-proxy.md' with { type: 'file' }
import compose from '../../docs/operate/compose.yaml' with { type: 'file' }
import composePostgres from '../../docs/operate/compose-postgres.yaml' with { type: 'file' }
import dashboard from '../../docs/operate/dashboard.json' with { type: 'file' }
import desk from '../../docs/operate/desk.md' with { type: 'file' }
import moreThanOneMachine from '../../docs/operate/more-than-one-machine.md' with { type: 'file' }
import apache from '../../docs/operate/proxies/apache.conf' with { type: 'file' }
import haproxy from '../../docs/operate/proxies/haproxy.cfg' with { type: 'file' }
import nginx from '../../docs/operate/proxies/nginx.conf' with { type: 'file' }
import caddy from '../../docs/operate/proxies/rewards.caddyfile' with { type: 'file' }
import squid from '../../docs/operate/proxies/squid.conf' with { type: 'file' }
import varnish from '../../docs/operate/proxies/varnish.vcl' with { type: 'file' }
import drill from '../../docs/operate/restore-drill.sh' with { type: 'file' }
import runningLive from '../../docs/operate/running-live.md' with { type: 'file' }
import unit from '../../docs/operate/scrip.service' with { type: 'file' }
import backupUnit from '../../docs/operate/scrip-backup.service' with { type: 'file' }
import deskAudit from '../../docs/pictures/desk-audit.webp' with { type: 'file' }
import deskPaid from '../../docs/pictures/desk-paid.webp' with { type: 'file' }
import deskPayout from '../../docs/pictures/desk-payout.webp' with { type: 'file' }
import deskReconcile from '../../docs/pictures/desk-reconcile.webp' with { type: 'file' }
import deskStatement from '../../docs/pictures/desk-statement.webp' with { type: 'file' }
import deskToday from '../../docs/pictures/desk-today.webp' with { type: 'file' }
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
  task: string
  title: string
  about: string
  /** The path of the file in the executable. */
  file: string
  /** The guide does not mention the sandbox, so live mode shows it. */
  isLive: boolean
}

const guideOf =
  (task: string) =>
  (title: string, about: string, file: string, isLive = false): Guide => ({ task, title, about, file, isLive })
const [start, use, operate] = [guideOf('Start'), guideOf('Use'), guideOf('Operate')]

/** Guides by the names of their files, in the order of their tasks. */
export const GUIDES: Readonly<Record<string, Guide>> = {
  quickstart: start('Quickstart', 'from installation to a passing test', quickstart),
  'test-runners': start('Test runners', 'a world for each test, in seven runners', testRunners),
  ci: start('Continuous integration', 'recipes for pipelines', ci),
  'testing-with-scrip': use('Testing with Scrip', 'test a client with the sandbox', testing),
  webhooks: use('Webhooks', 'receive, verify and test events', webhooks),
  money: use('Money', 'how charges and fees are computed', money),
  errors: use('Errors', 'every error, and what to do', errors),
  clients: use('Clients', 'clients in several languages', clients, true),
  agents: use('Coding agents', 'let a coding agent work in a sandbox', agents),
  flags: use('Commands and flags', 'all commands and flags', flags),
  'running-live': operate('Live mode', 'run Scrip in live mode', runningLive, true),
  'behind-a-proxy': operate(
    'Behind a proxy',
    'nginx, HAProxy, Caddy, Apache, Varnish and Squid before Scrip',
    behindAProxy,
    true,
  ),
  desk: operate('Desk', 'a page for the operator', desk, true),
  'more-than-one-machine': operate('More than one machine', 'keep the record in PostgreSQL', moreThanOneMachine, true),
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
  'scrip-backup.service': { topic: 'systemd-backup', about: 'a unit for backups', file: backupUnit },
  'compose.yaml': { topic: 'compose', about: 'a compose file for Docker', file: compose },
  'compose-postgres.yaml': {
    topic: 'compose-postgres',
    about: 'a compose file with PostgreSQL',
    file: composePostgres,
  },
  'proxies/nginx.conf': { topic: 'nginx', about: 'nginx before one server', file: nginx },
  'proxies/haproxy.cfg': { topic: 'haproxy', about: 'HAProxy before one server', file: haproxy },
  'proxies/rewards.caddyfile': { topic: 'caddy', about: 'Caddy before one server', file: caddy },
  'proxies/apache.conf': { topic: 'apache', about: 'Apache before one server', file: apache },
  'proxies/varnish.vcl': { topic: 'varnish', about: 'Varnish before one server', file: varnish },
  'proxies/squid.conf': { topic: 'squid', about: 'Squid before one server', file: squid },
  'alerts.yml': { topic: 'alerts', about: 'alert rules for Prometheus', file: alerts },
  'dashboard.json': { topic: 'dashboard', about: 'a dashboard for Grafana', file: dashboard },
  'restore-drill.sh': { topic: 'drill', about: 'a script that proves that backups can be restored', file: drill },
  'fixtures/scrip_sandbox.py': { topic: 'pytest', about: 'a fixture for pytest', file: pytest, isOfSandbox: true },
  'fixtures/ScripExtension.java': { topic: 'junit', about: 'an extension for JUnit 5', file: junit, isOfSandbox: true },
}

/** Pictures of pages, in WebP, by their paths in guides. */
export const SCREENSHOTS: Readonly<Record<string, string>> = {
  'desk-audit.webp': deskAudit,
  'desk-paid.webp': deskPaid,
  'desk-payout.webp': deskPayout,
  'desk-reconcile.webp': deskReconcile,
  'desk-statement.webp': deskStatement,
  'desk-today.webp': deskToday,
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
