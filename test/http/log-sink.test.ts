import { describe, expect, test } from 'bun:test'
import { LineSink, type LineStream, UNREAD_MAX } from '../../src/observability/log.ts'

/** A pipe with room for so many lines, which somebody may read. */
class Pipe implements LineStream {
  readonly read: string[] = []
  #held: string[] = []
  #listener: (() => void) | undefined

  constructor(private readonly linesMax: number) {}

  write = (text: string): boolean => {
    this.#held.push(text)
    return this.#held.length < this.linesMax
  }

  once = (_: 'drain', listener: () => void): void => {
    this.#listener = listener
  }

  drain(): void {
    this.read.push(...this.#held.join('').split('\n').filter(Boolean))
    this.#held = []
    const listener = this.#listener
    this.#listener = undefined
    listener?.()
  }

  get heldCount(): number {
    return this.#held.length
  }
}

describe('A log that nobody reads', () => {
  test('is buffered up to a limit; dropped lines are counted and reported once it is read again', () => {
    const pipe = new Pipe(3)
    const dropped: number[] = []
    const sink = new LineSink(pipe, (count) => dropped.push(count))
    const line = `${'x'.repeat(1_023)}\n`
    const count = 3 + UNREAD_MAX / line.length + 500
    for (let at = 0; at < count; at++) {
      sink.write(line)
      if (at < 3) sink.flush()
    }
    expect(pipe.heldCount).toBe(3)
    expect(dropped).toEqual([])
    for (let times = 0; times < 3; times++) pipe.drain()
    expect(dropped).toEqual([500])
    expect(pipe.read).toHaveLength(count - 500)
    sink.write('on it goes\n')
    sink.flush()
    pipe.drain()
    expect(pipe.read.at(-1)).toBe('on it goes')
  })

  test('loses neither lines nor order with a slow reader', () => {
    const pipe = new Pipe(2)
    const sink = new LineSink(pipe, () => expect.unreachable())
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`)
    for (const [at, line] of lines.entries()) {
      sink.write(`${line}\n`)
      if (at % 5 === 0) sink.flush()
      if (at % 7 === 0) pipe.drain()
    }
    pipe.drain()
    sink.flush()
    pipe.drain()
    expect(pipe.read).toEqual(lines)
  })

  test('lines of one turn of the event loop are written together, after it', async () => {
    const written: string[] = []
    const sink = new LineSink({ write: (text) => written.push(text) > 0, once: () => expect.unreachable() }, () =>
      expect.unreachable(),
    )
    sink.write('one\n')
    sink.write('two\n')
    expect(written).toEqual([])
    await new Promise(setImmediate)
    sink.write('three\n')
    await new Promise(setImmediate)
    expect(written).toEqual(['one\ntwo\n', 'three\n'])
  })
})
