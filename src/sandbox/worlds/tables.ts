import { schema } from '../../db/migrations/0001_schema.ts'
import { table } from '../../db/table.ts'

export const movedClock = table(schema.moved_clock)
export const keptPace = table(schema.kept_pace)
export const keptRandomness = table(schema.kept_randomness)
