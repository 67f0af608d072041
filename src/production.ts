/** Imported before all else: Elysia reads this once, and answers verbose error pages without it. */
process.env.NODE_ENV = 'production'
