import { Elysia } from 'elysia'
import { Database } from '../../db/database.ts'
import { readLong } from '../../http/body.ts'
import { unreadable } from '../../http/json.ts'
import { jsonResponse, textResponse } from '../../http/responses.ts'
import { weightsOf } from '../../http/weights.ts'
import type { World } from '../../worlds/world.ts'
import { rulesOf } from '../faults/rules.ts'
import type { Parts } from '../parts.ts'
import { StagedFile, stagedIn } from '../worlds/database-folder.ts'
import { getWorld, worldWire } from '../worlds/operations.ts'
import { besideDataOf } from '../worlds/state.ts'
import { inTurns, refusing, replaceByScenario, resultInTurns } from './apply.ts'
import { scenarioOf, withoutNulls } from './export.ts'
import { type Format, readJsonInSteps, writeScenario } from './format.ts'
import { ScenarioFault } from './loading.ts'
import * as operations from './operations.ts'
import { type Scenario, ScenarioSchema } from './schema.ts'
import { yamlAsJson } from './yaml-beside.ts'

const YAML_TYPE = 'application/yaml'
const IS_YAML = /^(?:application|text)\/(?:x-)?yaml\b/i

export const scenarioRoutes = (parts: Parts) => {
  const afterOthers = loadsInOrder()
  return new Elysia({ name: 'sandbox-scenario' })
    .get(
      '/scenario',
      async ({ query, request }) => {
        const format = wantsYaml(request) ? 'yaml' : 'json'
        const text = await exported(parts, getWorld(parts.worlds, query.world), format)
        return format === 'json' ? jsonResponse(text) : textResponse(text, YAML_TYPE)
      },
      operations.getScenario,
    )
    .put(
      '/scenario',
      async ({ query, request }) => {
        const world = getWorld(parts.worlds, query.world)
        const format = IS_YAML.test(request.headers.get('content-type') ?? '') ? 'yaml' : 'json'
        const text = await readLong(request, operations.SCENARIO_BYTES_MAX)
        return refusing(async () => {
          const document = await objectIn(world, text, format)
          return worldWire(await afterOthers(world.name, () => loaded(parts, query.world, document)))
        }, text)
      },
      operations.loadScenario,
    )
    .get('/scenario/schema', () => jsonResponse(SCHEMA), operations.getSchema)
}

/** A world that is reset meanwhile is replaced as it is then. @throws DomainError world_not_found once it is deleted */
const loaded = async (parts: Parts, name: string, document: Scenario): Promise<World> => {
  for (;;) {
    const world = getWorld(parts.worlds, name)
    try {
      return await replaceByScenario(parts, world, document)
    } catch (error) {
      if (!world.closed) throw error
    }
  }
}

/** Loads of a world run one after the other: each replaces the world that the one before has made. */
const loadsInOrder = () => {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(name: string, load: () => Promise<T>): Promise<T> => {
    const own = (last.get(name) ?? Promise.resolve()).then(load, load)
    last.set(name, own)
    try {
      return await own
    } finally {
      if (last.get(name) === own) last.delete(name)
    }
  }
}

const SCHEMA = `${JSON.stringify(ScenarioSchema, null, 2)}\n`

const wantsYaml = ({ headers }: Request): boolean => {
  const accept = headers.get('accept')
  if (accept === null) return false
  const weights = weightsOf(accept)
  return [...weights].some(([type, weight]) => IS_YAML.test(type) && weight > (weights.get('application/json') ?? 0))
}

/** A text that is no JSON object is refused as everywhere (contract C4). @throws DomainError body_unreadable */
const objectIn = async (world: World, text: string, format: Format): Promise<Scenario> => {
  try {
    const json = format === 'json' ? text : await yamlAsJson(text)
    return await resultInTurns(world, readJsonInSteps(json))
  } catch (error) {
    const [first] = error instanceof ScenarioFault ? error.problems : []
    if (format === 'json' && first?.path === '' && !text.trimStart().startsWith('{')) throw unreadable()
    if (format === 'json' && first?.what.startsWith('not JSON')) throw unreadable()
    throw error
  }
}

/** The text is made in time slices, of a copy of the world. @throws DomainError worlds_exhausted if there is no room for it */
const exported = async ({ worlds, scenarios }: Parts, world: World, format: Format): Promise<string> => {
  worlds.requireRoomFor(world)
  const [state, rules] = [besideDataOf(world, worlds.seed), rulesOf(world).flatMap(ruleWire)]
  const saved = await worlds.save(world)
  using _staged = stagedIn(saved)
  const database = saved instanceof StagedFile ? Database.openFile(saved.path) : Database.inMemory(saved.image)
  try {
    const pieces: string[] = []
    const steps = writeScenario(scenarioOf(database.query, state, rules, scenarios), format)
    await inTurns(world, steps, (piece) => pieces.push(piece))
    return pieces.join('')
  } finally {
    database.close()
  }
}

/** Rules that have been used as often as they should are left out. */
const ruleWire = ({ id: _, times_left: times, match, ...rule }: ReturnType<typeof rulesOf>[number]): object[] => {
  if (times === 0) return []
  const where = withoutNulls(match)
  return [withoutNulls({ ...rule, times, match: Object.keys(where).length > 0 ? where : null })]
}
