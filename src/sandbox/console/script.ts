import { bundledPage } from './bundle.ts' with { type: 'macro' }

export const SCRIPT: string = bundledPage()
