/** The part of opentype.js that makes the outlines of letters. */
declare module 'opentype.js' {
  interface Glyph {
    advanceWidth?: number
    getPath: (x: number, y: number, fontSize: number) => { toPathData: (decimals: number) => string }
  }
  interface Font {
    unitsPerEm: number
    charToGlyphIndex: (letter: string) => number
    charToGlyph: (letter: string) => Glyph
  }
  const opentype: { parse: (file: ArrayBuffer) => Font }
  export default opentype
}
