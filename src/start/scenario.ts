import { readFileSync } from 'node:fs'
import { type Config, urlOf } from '../config/config.ts'
import { renderFailure } from '../http/errors.ts'
import { BODY_UNREADABLE } from '../http/failures.ts'
import { parseObject } from '../http/json.ts'
import type { SteadyClock } from '../kernel/clock.ts'
import { DataFault, misused, unusable } from '../kernel/exit.ts'
import { DomainError } from '../kernel/failure.ts'
import { freshSeed } from '../kernel/ids.ts'
import type { Log } from '../observability/log.ts'
import { settingsOf } from '../sandbox/scenario/make.ts'
import { readSteps, SCENARIO_BYTES_MAX, type ScenarioStep } from '../sandbox/scenario/scenario.ts'
import { SHIPPED } from '../sandbox/scenario/shipped.ts'
import { forgetPasswords } from '../sandbox/seed/accounts.ts'
import { imageOf } from '../sandbox/worlds/state.ts'
import { deleteLogins } from '../sessions/queries.ts'
import { DEFAULT_WORLD } from '../work/worlds.ts'
import { stageOf } from './build.ts'
import { open } from './open.ts'
import { type Beginning, inFile } from './sources.ts'

/** The scenario of `--scenario`: every world begins with it (contract C15). */

/** Plays the scenario of `--scenario`, if there is one. @throws ProgramError, or as {@link open} */
export const playBeginning = async (config: Config, clock: SteadyClock, log: Log): Promise<Beginning | undefined> => {
  const { scenario } = config
  if (scenario === undefined) return undefined
  const seed = config.seed ?? freshSeed()
  const steps = await inScenario(scenario, () => stepsIn(textOf(scenario)))
  const opened = open({ ...config, seed, dataDir: undefined }, clock, log)
  try {
    const publicUrl = config.publicUrl ?? urlOf(config.host, config.port)
    const stage = stageOf(opened, { publicUrl, addressOf: () => '', isClosing: () => false })
    using staged = await inScenario(scenario, () => stage(DEFAULT_WORLD, steps))
    const { world } = staged
    world.db.fill(deleteLogins)
    forgetPasswords(world.db)
    return { seed, image: imageOf(world), settings: settingsOf(world) }
  } finally {
    opened.close()
  }
}

const stepsIn = (text: string): ScenarioStep[] => readSteps(parseObject(text, Number.POSITIVE_INFINITY))

/** The name of a file has a dot or a slash; the name of a scenario that comes with the program has neither. @throws ProgramError */
const textOf = (name: string): string => {
  if (/[./\\]/.test(name)) return fileText(name)
  const shipped = SHIPPED.get(name)
  if (shipped !== undefined) return shipped
  throw misused(`unknown scenario '${name}'\nWrite ./${name} for a file.`)
}

const fileText = (file: string): string =>
  inFile(file, () => {
    const bytes = readFileSync(file)
    if (bytes.length > SCENARIO_BYTES_MAX) throw new DataFault(`is longer than ${SCENARIO_BYTES_MAX} bytes`)
    return new TextDecoder().decode(bytes) // without a byte order mark
  })

/** Does some work on a scenario. A refusal gets the words that a client would. @throws ProgramError with its name */
const inScenario = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    if (error.failure.code === BODY_UNREADABLE.code)
      throw unusable(`${name} is not a JSON object\nA scenario looks like {"steps": [...]}.`)
    const { body } = renderFailure(error.failure, { errorShape: 'flat', unexpectedError: '' })
    throw unusable(`${name}: ${body.message}`)
  }
}
