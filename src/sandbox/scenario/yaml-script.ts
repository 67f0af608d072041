import { bundled } from '../bundle.ts' with { type: 'macro' }

export const YAML_PROGRAM: string = bundled('scenario/yaml-program.ts', 'bun')
