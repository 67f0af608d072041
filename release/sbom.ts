import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import { PROJECT } from './compile.ts'
import { type Content, neededByProgram } from './contents.ts'

/** CycloneDX 1.6 in JSON, without a time, so that it can be reproduced. */

const TYPES = {
  code: Enums.ComponentType.Library,
  data: Enums.ComponentType.Data,
  runtime: Enums.ComponentType.Platform,
} as const

/** Package URLs write the @ of a scope as %40. */
const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

const componentOf = ({ name, version, license, as, sha512 }: Content): Models.Component => {
  const [, group, bare = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? []
  const purl = purlOf(name, version)
  const component = new Models.Component(TYPES[as], bare, {
    bomRef: purl,
    version,
    purl,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-512'], sha512]]),
  })
  if (group !== undefined) component.group = group
  component.licenses.add(new Models.LicenseExpression(license))
  return component
}

export const sbomOf = (contents: readonly Content[]): string => {
  const { name, version, description, license } = PROJECT
  const program = new Models.Component(Enums.ComponentType.Application, name, {
    bomRef: `${name}@${version}`,
    version,
    description,
  })
  program.licenses.add(new Models.LicenseExpression(license))
  const components = contents.map((content) => ({ content, component: componentOf(content) }))
  /** A name can refer to either version of a package. */
  const link = (from: Models.Component, names: readonly string[]): void => {
    for (const { content, component } of components) {
      if (names.includes(content.name)) from.dependencies.add(component.bomRef)
    }
  }
  link(program, neededByProgram(contents))
  for (const { content, component } of components) link(component, content.needs)
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: program }),
    components: new Models.ComponentRepository(components.map(({ component }) => component)),
  })
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}
