import { Elysia } from 'elysia'
import { Database } from '../../db/database.ts'
import { readText } from '../../http/body.ts'
import { JSON_TYPE, Json, unreadable } from '../../http/json.ts'
import { weightsOf } from '../../http/weights.ts'
import { DomainError } from '../../kernel/failure.ts'
import type { World } from '../../worlds/world.ts'
import { scenarioTooLong } from '../errors.ts'
import { rulesOf } from '../faults/rules.ts'
import type { Parts } from '../parts.ts'
import { getWorld, worldWire } from '../worlds/operations.ts'
import { besideDataOf } from '../worlds/state.ts'
import { refusing, replaceByScenario } from './apply.ts'
import { scenarioOf, withoutNulls } from './export.ts'
import { type Format, readScenario, writeScenario } from './format.ts'
import { finish, ScenarioFault } from './loading.ts'
import * as operations from './operations.ts'
import { type Scenario, ScenarioSchema } from './schema.ts'

const YAML_TYPE = 'application/yaml'
const IS_YAML = /^(?:application|text)\/(?:x-)?yaml\b/i

export const scenarioRoutes = (parts: Parts) =>
  new Elysia({ name: 'sandbox-scenario' })
    .get(
      '/scenario',
      async ({ query, request }) => {
        const format = wantsYaml(request) ? 'yaml' : 'json'
        const text = await exported(parts, getWorld(parts.worlds, query.world), format)
        return new Response(text, { headers: { 'content-type': format === 'json' ? JSON_TYPE : YAML_TYPE } })
      },
      operations.getScenario,
    )
    .put(
      '/scenario',
      async ({ query, request }) => {
        const format = IS_YAML.test(request.headers.get('content-type') ?? '') ? 'yaml' : 'json'
        const text = await readText(request, operations.BYTES_MAX[format])
        return refusing(async () => {
          const document = objectIn(text, format)
          return worldWire(await loaded(parts, query.world, document))
        }, text)
      },
      operations.loadScenario,
    )
    .get('/scenario/schema', () => new Json(SCHEMA), operations.getSchema)

/**
 * A world that is replaced in the meantime is replaced again.
 *
 * @throws DomainError world_not_found once it is deleted
 */
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

const SCHEMA = `${JSON.stringify(ScenarioSchema, null, 2)}\n`

const wantsYaml = ({ headers }: Request): boolean => {
  const accept = headers.get('accept')
  if (accept === null) return false
  const weights = weightsOf(accept)
  return [...weights].some(([type, weight]) => IS_YAML.test(type) && weight > (weights.get('application/json') ?? 0))
}

/**
 * A text that is not a JSON object is refused as everywhere (contract C4).
 *
 * @throws ScenarioFault, or DomainError body_unreadable
 */
const objectIn = (text: string, format: Format): Scenario => {
  try {
    return readScenario(text, format)
  } catch (error) {
    const [first] = error instanceof ScenarioFault ? error.problems : []
    const isObject = text.trimStart().startsWith('{') && !first?.what.startsWith('not JSON')
    throw format === 'json' && first?.path === '' && !isObject ? unreadable() : error
  }
}

/**
 * Made of a copy of the world.
 * @throws DomainError scenario_too_long
 */
const exported = async ({ worlds, scenarios }: Parts, world: World, format: Format): Promise<string> => {
  const [state, rules] = [besideDataOf(world, worlds.seed), rulesOf(world).flatMap(ruleWire)]
  const database = Database.inMemory(worlds.imageOf(world))
  try {
    const document = writeScenario(scenarioOf(database.query, state, rules, scenarios), format)
    return finish(bounded(document, operations.BYTES_MAX[format]))
  } finally {
    database.close()
  }
}

/** A document that could not be loaded again is refused. */
function* bounded(pieces: Iterable<string>, bytesMax: number): Generator<undefined, string> {
  const kept: string[] = []
  let bytes = 0
  for (const piece of pieces) {
    bytes += Buffer.byteLength(piece)
    if (bytes > bytesMax) throw new DomainError(scenarioTooLong(bytesMax))
    kept.push(piece)
    yield
  }
  return kept.join('')
}

/** Rules that are used up are left out. */
const ruleWire = ({ id: _, times_left: times, match, ...rule }: ReturnType<typeof rulesOf>[number]): object[] => {
  if (times === 0) return []
  const where = withoutNulls(match)
  return [withoutNulls({ ...rule, times, match: Object.keys(where).length > 0 ? where : null })]
}
