import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseFolder } from '../../src/sandbox/worlds/database-folder.ts'

test('files that are written at once are listed in the order in which they were written, also after a restart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scrip-test-'))
  const names = ['third', 'second', 'first', 'zero', 'last']
  const files = new DatabaseFolder(folder, 'snapshot-')
  for (const name of names) files.write(name, new Uint8Array(8))
  expect(files.names).toEqual(names)
  const restarted = new DatabaseFolder(folder, 'snapshot-')
  expect(restarted.names).toEqual(names)
  // A clock that was set back, or that stands still for some milliseconds.
  utimesSync(restarted.path('last'), 4e9, 4e9)
  const next = new DatabaseFolder(folder, 'snapshot-')
  next.write('second', new Uint8Array(8))
  expect(new DatabaseFolder(folder, 'snapshot-').names).toEqual(['third', 'first', 'zero', 'last', 'second'])
  rmSync(folder, { recursive: true })
})
