import { DomainError } from '../../kernel/failure.ts'
import { newRule } from '../faults/new-rule.ts'
import type { OutcomeRegistry } from '../requests/outcomes.ts'
import { type Problem, ScenarioFault } from './loading.ts'
import type { Scenario } from './schema.ts'

/** The fault rules of a document. @throws ScenarioFault with those that can never apply */
export const newRules = ({ faults = [] }: Pick<Scenario, 'faults'>, outcomes: OutcomeRegistry) => {
  const problems: Problem[] = []
  const rules = faults.flatMap((fault, index) => {
    try {
      return [newRule(fault, outcomes)]
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      for (const { field, problem } of error.failure.violations ?? []) {
        problems.push({ path: `/faults/${index}/${field}`, what: problem })
      }
      return []
    }
  })
  if (problems.length > 0) throw new ScenarioFault(problems)
  return rules
}
