import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { columns } from '../../db/columns.ts'

export const movedClock = sqliteTable('moved_clock', columns.movedClock)
export const keptPace = sqliteTable('kept_pace', columns.keptPace)
export const keptRandomness = sqliteTable('kept_randomness', columns.keptRandomness)
