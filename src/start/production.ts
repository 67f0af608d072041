/** Inherited by the commands that the program starts. */
export const givenEnvironment: Readonly<Record<string, string | undefined>> = { ...process.env }

/** Imported first: Elysia reads this once, and would return verbose error pages without it. */
process.env.NODE_ENV = 'production'
