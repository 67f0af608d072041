import { type BaseRates, parseRates } from '../../charges/rates.ts'
import { DomainError, invalid, type Violation } from '../../kernel/failure.ts'
import { FileFault } from '../../kernel/problems.ts'

/** The exchange rates of a world in the form of a file for `--rates`. */

export const readRates = (body: object): BaseRates => refusingFaults(() => parseRates(JSON.stringify(body)))

/** @throws DomainError validation with every bad rate */
export const refusingFaults = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const violations = error.problems.map((problem) => {
      const [path = '', ...what] = problem.split(': ')
      return violationAt(path, what.join(': '))
    })
    throw new DomainError(invalid(violations))
  }
}

/** A problem at a path of a document, such as /denominations/0/discount. */
export const violationAt = (path: string, problem: string): Violation => {
  const field = path.slice(1).replaceAll('/', '.')
  return { field, rule: 'format', problem, message: `${field}: ${problem}` }
}
