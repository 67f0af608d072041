import { SECOND_MS } from '../../kernel/clock.ts'
import { askThread } from '../../kernel/thread.ts'
import { LINED_LENGTH_MAX, lined, notYaml, unlined } from './format.ts'
import type { ScenarioFault } from './loading.ts'

/** YAML is read in a thread of its own: 10,000 records take half a second, in which others would wait (decision 96). */

/** A text that takes longer was made for that. */
const READING_MS_MAX = 20 * SECOND_MS

/** One text at a time: many at once would take all processors, and hundreds of megabytes. Short ones wait for no long one. */
const lastReadings = { short: Promise.resolve<unknown>(undefined), long: Promise.resolve<unknown>(undefined) }

const ask = <Answer>(question: { text: string; paths?: string[] }): Promise<Answer> => {
  const length = question.text.length > LINED_LENGTH_MAX ? 'long' : 'short'
  const reading = lastReadings[length].then(async () => {
    // Loaded with the first text: from the sources, the program is bundled then.
    const { YAML_PROGRAM } = await import('./yaml-script.ts')
    return askThread<Answer>(YAML_PROGRAM, question, READING_MS_MAX)
  })
  lastReadings[length] = reading.catch(() => undefined)
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
    return lined(problems, await ask<number[]>({ text, paths: problems.map(({ path }) => path) }))
  } catch {
    return fault // nested so deep that JSON is read, but YAML is not
  }
}
