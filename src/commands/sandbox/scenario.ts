import type { Command } from 'commander'
import { withJson } from '../../config/options.ts'
import { readScenario } from '../../sandbox/scenario/format.ts'
import { ScenarioSchema } from '../../sandbox/scenario/schema.ts'
import { SHIPPED } from '../../sandbox/scenario/shipped.ts'
import { choiceArgument, withListOptions } from '../arguments.ts'
import { show } from '../terminal/output.ts'

/** `scrip scenario`: worlds as documents (contract C15). */
export const scenarioCommands = (scenario: Command): void => {
  withListOptions(withJson(scenario.command('list')))
    .description('list the scenarios that come with Scrip')
    .action(({ json, csv, limit }: { json?: true; csv?: true; limit?: number }) => {
      const rows = [...SHIPPED].slice(0, limit).map(rowOf)
      return show({ columns: ['name', 'description'], rows }, json ? 'json' : csv ? 'csv' : 'text')
    })
  scenario
    .command('show')
    .description('print a scenario, to change it or to learn from it')
    .addArgument(choiceArgument('<name>', 'the scenario', [...SHIPPED.keys()]))
    .action((name: string) => void process.stdout.write(SHIPPED.get(name) ?? ''))
  scenario
    .command('schema')
    .description('print the JSON Schema of a scenario')
    .action(() => void process.stdout.write(`${JSON.stringify(ScenarioSchema, null, 2)}\n`))
}

const rowOf = ([name, text]: [string, string]) => ({
  name,
  description: readScenario(text, 'yaml').description ?? '',
})
