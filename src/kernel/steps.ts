/** Runs each step when the one before has ended, whatever became of it. @throws the first error, after the last step */
export const everyStep = async (steps: readonly (() => unknown)[]): Promise<void> => {
  const failed: { error: unknown }[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failed.push({ error })
    }
  }
  for (const { error } of failed) throw error
}
