import { describe, expect, test } from 'bun:test'
import { Canvas, type Colour, outlinesOf } from '../../src/catalog/canvas.ts'

const WHITE: Colour = [255, 255, 255]
const BLACK: Colour = [0, 0, 0]
const SIZE = 10

const asIs = (x: number, y: number) => [x, y] as const
const black = (): Canvas => {
  const canvas = new Canvas(SIZE, SIZE)
  canvas.fillCard(BLACK, BLACK, 0)
  return canvas
}
/** The brightness of a pixel, from 0 to 255. */
const at = ({ pixels }: Canvas, x: number, y: number): number => pixels[(y * SIZE + x) * 4] ?? -1

describe('Canvas', () => {
  test('fills what an outline winds around, with the part of a pixel that is inside', () => {
    const canvas = black()
    canvas.fill(outlinesOf('M2 2L7.5 2L7.5 8L2 8Z', asIs), WHITE)
    expect([at(canvas, 1, 5), at(canvas, 2, 5), at(canvas, 6, 5), at(canvas, 7, 5), at(canvas, 8, 5)]).toEqual([
      0, 255, 255, 128, 0,
    ])
    expect([at(canvas, 4, 1), at(canvas, 4, 2), at(canvas, 4, 7), at(canvas, 4, 8)]).toEqual([0, 255, 255, 0])
  })

  test('leaves a hole where an inner outline winds the other way, and none where it winds the same way', () => {
    const ring = black()
    ring.fill(outlinesOf('M1 1L9 1L9 9L1 9ZM3 3L3 7L7 7L7 3Z', asIs), WHITE)
    expect([at(ring, 2, 5), at(ring, 5, 5)]).toEqual([255, 0])
    const solid = black()
    solid.fill(outlinesOf('M1 1L9 1L9 9L1 9ZM3 3L7 3L7 7L3 7Z', asIs), WHITE)
    expect(at(solid, 5, 5)).toBe(255)
  })

  test('closes an open outline when it fills it', () => {
    const canvas = black()
    canvas.fill(outlinesOf('M2 2L8 2L8 8L2 8', asIs), WHITE)
    expect(at(canvas, 5, 5)).toBe(255)
  })

  test('strokes lines with round ends, and does not paint a crossing twice', () => {
    const canvas = black()
    canvas.stroke(outlinesOf('M2 5L8 5M5 2L5 8', asIs), 2, WHITE, 0.5)
    expect([at(canvas, 5, 5), at(canvas, 3, 5), at(canvas, 0, 0)]).toEqual([128, 128, 0])
    expect(at(canvas, 1, 4)).toBeWithin(1, 128)
  })

  test('takes a point as a dot', () => {
    const canvas = black()
    canvas.stroke(outlinesOf('M5 5L5 5', asIs), 4, WHITE, 1)
    expect([at(canvas, 5, 5), at(canvas, 9, 9)]).toEqual([255, 0])
  })

  test('cuts what is outside, and corners round', () => {
    const canvas = new Canvas(SIZE, SIZE)
    canvas.fillCard(WHITE, WHITE, 4)
    canvas.stroke(outlinesOf('M-50 -50L60 60', asIs), 3, BLACK, 1)
    canvas.ring([5, 5], 40, 2, BLACK, 1)
    canvas.fill(outlinesOf('M-9 -9L-5 -9L-5 -5Z', asIs), BLACK)
    const alpha = (x: number, y: number) => canvas.pixels[(y * SIZE + x) * 4 + 3]
    expect([alpha(0, 0), alpha(9, 9), alpha(5, 0), alpha(5, 5)]).toEqual([0, 0, 255, 255])
    expect(canvas.pixels).toHaveLength(SIZE * SIZE * 4)
  })

  test('follows curves to their ends', () => {
    const [outline = []] = outlinesOf('M0 0Q5 10 10 0C10 5 0 5 0 0Z', (x, y) => [x * 2, y])
    expect(outline).toContainEqual([20, 0])
    expect(outline.at(-1)).toEqual([0, 0])
    expect(Math.max(...outline.map(([, y]) => y))).toBeCloseTo(5)
  })
})
