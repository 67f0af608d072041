/** A small canvas: what the pictures of cards need, and no more. */

/** From 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number]
type Point = readonly [x: number, y: number]
type Outline = readonly Point[]
type Transform = (x: number, y: number) => Point

/** Of a curve: in letters and motifs, none is long enough to show its corners. */
const CURVE_STEPS = 10
/** Rows of samples in a row of pixels; across, coverage is exact. */
const SAMPLES = 5

/** The outlines of a path of M, L, Q, C and Z, whose coordinates are absolute. */
export const outlinesOf = (path: string, transform: Transform): Outline[] => {
  const outlines: Point[][] = []
  let outline: Point[] = []
  let [x, y] = [0, 0]
  for (const [, command, rest = ''] of path.matchAll(/([MLQCZ])([^MLQCZ]*)/g)) {
    const values = rest.match(/-?[\d.]+/g)?.map(Number) ?? []
    if (command === 'M') {
      outline = []
      outlines.push(outline)
    }
    if (command === 'Z') {
      if (outline[0]) outline.push(outline[0])
      continue
    }
    const points: Point[] = [[x, y]]
    for (let at = 0; at < values.length; at += 2) points.push([values[at] ?? 0, values[at + 1] ?? 0])
    ;[x, y] = points.at(-1) ?? [x, y]
    const steps = points.length > 2 ? CURVE_STEPS : 1
    for (let step = 1; step <= steps; step++) outline.push(transform(...between(points, step / steps)))
  }
  return outlines
}

/** A point of a Bézier curve (de Casteljau); after an M or an L, its end. */
const between = (points: readonly Point[], part: number): Point => {
  const [first = [0, 0], ...others] = points
  if (others.length === 0) return first
  return between(
    others.map(([x, y], index) => {
      const [fromX, fromY] = points[index] ?? [x, y]
      return [fromX + (x - fromX) * part, fromY + (y - fromY) * part]
    }),
    part,
  )
}

export class Canvas {
  /** Red, green, blue and alpha of each pixel, row by row. */
  readonly pixels: Uint8ClampedArray

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.pixels = new Uint8ClampedArray(width * height * 4)
  }

  /** From one corner to the other, with corners cut round. */
  fillCard([red, green, blue]: Colour, [toRed, toGreen, toBlue]: Colour, corner: number): void {
    const { width, height, pixels } = this
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const part = (x / width + y / height) / 2
        const at = (y * width + x) * 4
        pixels[at] = red + (toRed - red) * part
        pixels[at + 1] = green + (toGreen - green) * part
        pixels[at + 2] = blue + (toBlue - blue) * part
        const [acrossX, acrossY] = [corner - Math.min(x, width - 1 - x), corner - Math.min(y, height - 1 - y)]
        pixels[at + 3] = acrossX > 0 && acrossY > 0 ? 255 * cover(corner, lengthOf(acrossX - 0.5, acrossY - 0.5)) : 255
      }
    }
  }

  ring([cx, cy]: Point, radius: number, width: number, colour: Colour, opacity: number): void {
    const area = this.#areaOf(cx - radius, cy - radius, cx + radius, cy + radius, width / 2)
    for (let y = area.top; y < area.bottom; y++) {
      for (let x = area.left; x < area.right; x++) {
        const away = Math.abs(lengthOf(x + 0.5 - cx, y + 0.5 - cy) - radius)
        if (away < width / 2 + 0.5) this.#blend(y * this.width + x, colour, opacity * cover(width / 2, away))
      }
    }
  }

  /** Lines with round ends and corners. Where they cross, they are not painted twice. */
  stroke(outlines: readonly Outline[], width: number, colour: Colour, opacity: number): void {
    const covered = new Float32Array(this.width * this.height)
    for (const outline of outlines) {
      for (let index = 1; index < outline.length; index++) {
        this.#coverLine(covered, outline[index - 1] ?? [0, 0], outline[index] ?? [0, 0], width / 2)
      }
    }
    this.#paintCovered(covered, this.#areaOf(0, 0, this.width, this.height, 0), colour, opacity)
  }

  #coverLine(covered: Float32Array, [fromX, fromY]: Point, [toX, toY]: Point, half: number): void {
    const [dx, dy] = [toX - fromX, toY - fromY]
    const squared = dx * dx + dy * dy || 1
    const area = this.#areaOf(
      Math.min(fromX, toX),
      Math.min(fromY, toY),
      Math.max(fromX, toX),
      Math.max(fromY, toY),
      half,
    )
    for (let y = area.top; y < area.bottom; y++) {
      for (let x = area.left; x < area.right; x++) {
        const awayX = x + 0.5 - fromX
        const awayY = y + 0.5 - fromY
        const along = Math.min(1, Math.max(0, (awayX * dx + awayY * dy) / squared))
        const part = cover(half, lengthOf(awayX - along * dx, awayY - along * dy))
        const at = y * this.width + x
        if (part > (covered[at] ?? 0)) covered[at] = part
      }
    }
  }

  /** Shapes whose outlines wind around what is inside (the nonzero rule). */
  fill(outlines: readonly Outline[], colour: Colour): void {
    const points = outlines.flat()
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)]
    const area = this.#areaOf(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), 0)
    const covered = new Float32Array(this.width * this.height)
    for (let y = area.top; y < area.bottom; y++) {
      for (let sample = 0; sample < SAMPLES; sample++) {
        for (const [left, right] of spansAt(outlines, y + (sample + 0.5) / SAMPLES)) {
          const end = Math.min(area.right, Math.ceil(right))
          for (let x = Math.max(area.left, Math.floor(left)); x < end; x++) {
            const at = y * this.width + x
            covered[at] = (covered[at] ?? 0) + (Math.min(right, x + 1) - Math.max(left, x)) / SAMPLES
          }
        }
      }
    }
    this.#paintCovered(covered, area, colour, 1)
  }

  #paintCovered(covered: Float32Array, { left, top, right, bottom }: Area, colour: Colour, opacity: number): void {
    for (let y = top; y < bottom; y++) {
      for (let at = y * this.width + left; at < y * this.width + right; at++) {
        const part = covered[at] ?? 0
        if (part > 0) this.#blend(at, colour, Math.min(1, part) * opacity)
      }
    }
  }

  #blend(at: number, [red, green, blue]: Colour, opacity: number): void {
    const { pixels } = this
    const index = at * 4
    pixels[index] = mixed(pixels[index], red, opacity)
    pixels[index + 1] = mixed(pixels[index + 1], green, opacity)
    pixels[index + 2] = mixed(pixels[index + 2], blue, opacity)
  }

  /** The pixels that a shape can touch, with a margin around them. */
  #areaOf(left: number, top: number, right: number, bottom: number, around: number): Area {
    const within = (value: number, most: number): number => Math.min(most, Math.max(0, value))
    return {
      left: within(Math.floor(left - around - 1), this.width),
      top: within(Math.floor(top - around - 1), this.height),
      right: within(Math.ceil(right + around + 1), this.width),
      bottom: within(Math.ceil(bottom + around + 1), this.height),
    }
  }
}

/** In whole pixels; right and bottom are not included. */
interface Area {
  left: number
  top: number
  right: number
  bottom: number
}

const lengthOf = (x: number, y: number): number => Math.sqrt(x * x + y * y)

const mixed = (below = 0, above: number, opacity: number): number => below + (above - below) * opacity

/** Which part of a pixel is inside a round shape, whose edge is so far from where the pixel is measured from. */
const cover = (edge: number, away: number): number => Math.min(1, Math.max(0, edge - away + 0.5))

/** Where a horizontal line is inside, from left to right. */
const spansAt = (outlines: readonly Outline[], y: number): [left: number, right: number][] => {
  const crossings: { x: number; turn: number }[] = []
  for (const outline of outlines) {
    let from = outline.at(-1) ?? [0, 0]
    for (const to of outline) {
      if (from[1] <= y !== to[1] <= y) {
        const x = from[0] + ((y - from[1]) / (to[1] - from[1])) * (to[0] - from[0])
        crossings.push({ x, turn: to[1] > from[1] ? 1 : -1 })
      }
      from = to
    }
  }
  crossings.sort((one, other) => one.x - other.x)
  const spans: [number, number][] = []
  let winding = 0
  let left = 0
  for (const { x, turn } of crossings) {
    if (winding === 0) left = x
    winding += turn
    if (winding === 0) spans.push([left, x])
  }
  return spans
}
