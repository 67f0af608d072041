import { Type } from '@sinclair/typebox'
import { invalid, type Violation } from '../../kernel/failure.ts'
import { controlOperation, worldOperation } from '../control/operation.ts'
import { scenarioTooLong, worldsExhausted } from '../errors.ts'
import { WORLD_EXAMPLE, WorldSummary } from '../worlds/operations.ts'
import { WORLDS_MAX } from '../worlds/worlds.ts'
import { ScenarioSchema } from './schema.ts'

/** A world as one document (contract C15). Its schema is too large for these pages, and has its own address. */

/** The largest documents, in bytes (contract C15). A megabyte of YAML takes as long to read as a hundred of JSON. */
export const BYTES_MAX = { json: 8_388_608, yaml: 1_048_576 } as const

const SCHEMA_PATH = '/_sandbox/scenario/schema'
const EXAMPLE = { orders: [{ product_id: 1, denomination: 100, quantity: 2, status: 'PENDING' }] }

const NO_PRODUCT: Violation = {
  field: 'orders.0.product_id',
  rule: 'format',
  problem: 'the catalog has no product 999999',
  message: 'line 1, orders.0.product_id: the catalog has no product 999999',
}

/** Their members are in the schema. */
const ScenarioPart = Type.Object({}, { title: 'ScenarioPart', additionalProperties: true })
const sections = Object.fromEntries(
  Object.entries(ScenarioSchema.properties).map(([name, { type, description }]) => {
    const part = type === 'array' ? Type.Array(ScenarioPart) : type === 'string' ? Type.String() : ScenarioPart
    return [name, Type.Optional({ ...part, ...(type !== 'object' && description !== undefined && { description }) })]
  }),
)
const Document = Type.Object(sections, { title: 'Scenario' })

export const getScenario = worldOperation('scenario')({
  id: 'getScenario',
  summary: 'Get a world as one document',
  description:
    'Without its name, tokens, passwords and voucher codes. As YAML where Accept names application/yaml. Loaded and read again it ' +
    `is the same, byte for byte. At most 8 MiB, as YAML 1 MiB. Its schema is at ${SCHEMA_PATH}.`,
  success: { status: 200, description: 'The document', schema: Document, example: EXAMPLE },
  errors: { exhausted: worldsExhausted(WORLDS_MAX), too_long: scenarioTooLong(BYTES_MAX.json) },
})

export const loadScenario = worldOperation('scenario_load')({
  id: 'loadScenario',
  summary: 'Replace a world by one document',
  description:
    'JSON of at most 8 MiB, or YAML of at most 1 MiB with the content type application/yaml. Everything or nothing: what is wrong is listed with its place. Tokens ' +
    `and passwords stay valid; limits, held prices and the request log start empty. The schema is at ${SCHEMA_PATH}.`,
  body: Type.Object(sections, { title: 'ScenarioRequest' }),
  bodyExample: EXAMPLE,
  bodyBytesMax: BYTES_MAX.json,
  readsBody: true,
  success: { status: 200, description: 'The world', schema: WorldSummary, example: WORLD_EXAMPLE },
  errors: { validation: invalid([NO_PRODUCT]) },
})

export const getSchema = controlOperation('scenario_schema')({
  id: 'getScenarioSchema',
  summary: 'Get the JSON Schema of these documents',
  description: 'For editors and tools, as `scrip scenario schema` prints it.',
  success: {
    status: 200,
    description: 'The schema',
    schema: Type.Object({}, { title: 'ScenarioSchema', additionalProperties: true }),
    example: { title: 'Scrip scenario' } as object,
  },
})
