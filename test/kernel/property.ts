import fc from 'fast-check'

/** TEST_SEED repeats a failure, whose report names the seed. Without it every run tries other inputs. */
const seed = Number(process.env.TEST_SEED ?? crypto.getRandomValues(new Int32Array(1))[0])
const RUNS = 2_000

/** Tests a rule on many inputs, and throws the smallest that breaks it. */
export const holds = <Input>(inputs: fc.Arbitrary<Input>, rule: (input: Input) => void): void =>
  fc.assert(fc.property(inputs, rule), { seed, numRuns: RUNS })

/** Whole numbers from 0 to the greatest; each number of digits is equally likely. */
export const wholeUpTo = (max: number): fc.Arbitrary<number> =>
  fc
    .integer({ min: 0, max: Math.ceil(Math.log10(max)) })
    .chain((digits) => fc.integer({ min: 0, max: Math.min(max, 10 ** digits) }))
