import agents from '../../docs/agents.md' with { type: 'file' }
import ci from '../../docs/ci.md' with { type: 'file' }
import clients from '../../docs/clients.md' with { type: 'file' }
import errors from '../../docs/errors.md' with { type: 'file' }
import flags from '../../docs/flags.md' with { type: 'file' }
import money from '../../docs/money.md' with { type: 'file' }
import moreThanOneMachine from '../../docs/more-than-one-machine.md' with { type: 'file' }
import quickstart from '../../docs/quickstart.md' with { type: 'file' }
import runningLive from '../../docs/running-live.md' with { type: 'file' }
import testRunners from '../../docs/test-runners.md' with { type: 'file' }
import testing from '../../docs/testing-with-scrip.md' with { type: 'file' }
import webhooks from '../../docs/webhooks.md' with { type: 'file' }

/** The guides of docs/, from the executable. */

interface Guide {
  title: string
  about: string
  /** The path of the file in the executable. */
  file: string
  /** It says nothing of the sandbox, so that live mode shows it. */
  isLive?: true
}

/** By the name of the file, so that links between guides hold in a folder and in a browser. */
export const GUIDES: Readonly<Record<string, Guide>> = {
  quickstart: { title: 'Quickstart', about: 'from installation to a passing test', file: quickstart },
  'testing-with-scrip': { title: 'Testing with Scrip', about: 'test a client with the sandbox', file: testing },
  'test-runners': { title: 'Test runners', about: 'a world for each test, in seven runners', file: testRunners },
  ci: { title: 'Continuous integration', about: 'recipes for pipelines', file: ci },
  agents: { title: 'Coding agents', about: 'let a coding agent work in a sandbox', file: agents },
  webhooks: { title: 'Webhooks', about: 'receive, verify and test events', file: webhooks },
  money: { title: 'Money', about: 'how charges and fees are computed', file: money },
  errors: { title: 'Errors', about: 'every error, and what to do', file: errors },
  clients: { title: 'Clients', about: 'clients in several languages', file: clients, isLive: true },
  'running-live': { title: 'Live mode', about: 'run Scrip in live mode', file: runningLive, isLive: true },
  'more-than-one-machine': {
    title: 'More than one machine',
    about: 'keep the record in PostgreSQL',
    file: moreThanOneMachine,
    isLive: true,
  },
  flags: { title: 'Commands and flags', about: 'all commands and flags', file: flags },
}

export type Guides = Readonly<Record<string, Guide>>

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
