import packageJson from '../../package.json' with { type: 'text' }

export const VERSION = (JSON.parse(packageJson) as { version: string }).version
