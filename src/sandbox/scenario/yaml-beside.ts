import { SECOND_MS } from '../../kernel/clock.ts'
import { askThread } from '../../kernel/thread.ts'
import { notYaml, unlined } from './format.ts'
import { ScenarioFault } from './loading.ts'

/** YAML is read in a thread of its own: 10,000 records take half a second, in which others would wait (decision 96). */

/** A text that takes longer was made for that. */
const READING_MS_MAX = 20 * SECOND_MS

/** One text at a time: many at once would take all processors, and hundreds of megabytes. */
let lastReading: Promise<unknown> = Promise.resolve()

const ask = <Answer>(question: { text: string; paths?: string[] }): Promise<Answer> => {
  const reading = lastReading.then(async () => {
    // Loaded with the first text: from the sources, the program is bundled then.
    const { YAML_PROGRAM } = await import('./yaml-script.ts')
    return askThread<Answer>(YAML_PROGRAM, question, READING_MS_MAX)
  })
  lastReading = reading.catch(() => undefined)
  return reading
}

/** @throws ScenarioFault for what is no YAML, or none that is read here */
export const yamlAsJson = async (text: string): Promise<string> => {
  try {
    return await ask<string>({ text })
  } catch (error) {
    throw notYaml(error)
  }
}

/** The same problems with their lines, in JSON too, if they can be found. */
export const withLinesBeside = async (fault: ScenarioFault, text: string): Promise<ScenarioFault> => {
  const problems = unlined(fault, text)
  if (problems.length === 0) return fault
  try {
    const lines = await ask<number[]>({ text, paths: problems.map(({ path }) => path) })
    return new ScenarioFault(problems.map((problem, index) => ({ ...problem, line: lines[index] ?? 1 })))
  } catch {
    return fault // nested so deep that JSON is read, but YAML is not
  }
}
