import { linesOf, parseYaml } from './yaml.ts'

// The program of a thread (kernel/thread.ts): YAML as JSON, or the lines of some places in it.

declare const self: Worker

/** JSON has no such numbers. As texts they are refused where a number is due. */
const finite = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value

self.onmessage = ({ data: { text, paths } }: MessageEvent<{ text: string; paths?: string[] }>) => {
  try {
    self.postMessage({ answer: paths ? linesOf(text, paths) : JSON.stringify(parseYaml(text), finite) })
  } catch (error) {
    self.postMessage({ message: error instanceof Error ? error.message : String(error) })
  }
}
