/** The environment as it was given, for the commands that the program starts. */
export const givenEnvironment: Readonly<Record<string, string | undefined>> = { ...process.env }

/** Imported before all else: Elysia reads this once, and answers verbose error pages without it. */
process.env.NODE_ENV = 'production'
