import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Compares the dashboard with the JSON model of Grafana (kinds/dashboard/dashboard_kind.cue of grafana/grafana, the
 * reference of variables). Grafana imports a broken dashboard without a message, and shows nothing. A test of
 * test/executable/topics.test.ts checks that the metrics exist.
 */

/** The types of panels that every Grafana has. */
const PANEL_TYPES = ['stat', 'timeseries', 'table', 'gauge', 'bargauge', 'barchart', 'row', 'text']
const VARIABLE_TYPES = ['query', 'adhoc', 'constant', 'datasource', 'interval', 'textbox', 'custom']
/** Ids of units; the short form of a number without one is `short`. */
const UNITS = ['short', 'percentunit', 'bytes', 's', 'ms', 'd', 'reqps', 'ops']
const COLUMNS = 24
/** Variables that Grafana sets itself. */
const BUILT_IN = ['__rate_interval', '__interval', '__range']

interface Panel {
  id: number
  type: string
  title: string
  datasource: object
  gridPos: { x: number; y: number; w: number; h: number }
  fieldConfig: { defaults: { unit?: string; thresholds?: { steps: { value: number | null }[] } } }
  targets: { refId: string; datasource: object }[]
}

interface Dashboard {
  title: string
  templating: { list: { name: string; type: string; datasource?: object }[] }
  panels: Panel[]
}

const text = readFileSync(join(import.meta.dir, '../../docs/operate/dashboard.json'), 'utf8')
const dashboard = JSON.parse(text) as Dashboard
const { panels } = dashboard
const variables = dashboard.templating.list
const SOURCE = { type: 'prometheus', uid: '$' + '{datasource}' }

describe('the dashboard', () => {
  test('has no id of a Grafana instance', () => {
    expect(dashboard).not.toContainAnyKeys(['id', 'gnetId', '__inputs'])
    expect(dashboard).toMatchObject({ title: 'Scrip', schemaVersion: expect.any(Number), uid: expect.any(String) })
  })

  test('has its data source as the first variable, and all others and the panels use it', () => {
    expect(variables[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' })
    for (const { type } of variables) expect(VARIABLE_TYPES).toContain(type)
    for (const { datasource } of variables.slice(1)) expect(datasource).toEqual(SOURCE)
    for (const { title, datasource, targets } of panels) {
      expect({ title, datasource }).toEqual({ title, datasource: SOURCE })
      for (const target of targets)
        expect({ title, datasource: target.datasource }).toEqual({ title, datasource: SOURCE })
    }
  })

  test('uses no variable that nobody sets', () => {
    const known = new Set([...variables.map(({ name }) => name), ...BUILT_IN])
    const used = text.matchAll(/\$\{?(\w+)/g)
    expect([...used].map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([])
  })

  test('has panels of known types, each with an id and queries of its own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { type, title, gridPos, targets } of panels) {
      expect(PANEL_TYPES).toContain(type)
      expect(title).not.toBe('')
      expect(gridPos.x + gridPos.w).toBeWithin(1, COLUMNS + 1)
      expect(targets.length).toBeGreaterThan(0)
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
    }
  })

  test('has thresholds that begin without a value and rise, and units that Grafana knows', () => {
    for (const { title, fieldConfig } of panels) {
      const { unit = 'short', thresholds } = fieldConfig.defaults
      expect(UNITS).toContain(unit)
      const [first = null, ...others] = thresholds?.steps.map(({ value }) => value) ?? []
      expect({ title, first, others }).toEqual({
        title,
        first: null,
        others: others.toSorted((a, b) => Number(a) - Number(b)),
      })
    }
  })
})
