import { bundled } from '../pages/bundle.ts' with { type: 'macro' }

export const SCRIPT: string = bundled('desk/page/main.tsx')
