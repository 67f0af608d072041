import { bundled } from './bundle.ts' with { type: 'macro' }

export const SCRIPT: string = bundled('pages/ui/reference.tsx')
