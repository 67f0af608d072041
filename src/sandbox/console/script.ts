import { bundled } from '../../pages/bundle.ts' with { type: 'macro' }

export const SCRIPT: string = bundled('sandbox/console/page/main.tsx')
