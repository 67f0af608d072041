/** The values of a header such as Accept, with their weights from 0 to 1 (RFC 9110, 12.4.2). */
export const weightsOf = (header: string): Map<string, number> =>
  new Map(
    header.split(',').map((each) => {
      const [name = '', ...parameters] = each
        .toLowerCase()
        .split(';')
        .map((part) => part.trim())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
      return [name, weight === undefined ? 1 : Number(weight)]
    }),
  )
