import { ERASURE } from './rows.ts'
import { type Column, POSTGRES_TYPES, quotedName, type Table } from './tables.ts'

/** The schema in PostgreSQL (contract C18), made from the tables of the data. */

const list = (names: readonly string[]): string => names.map(quotedName).join(', ')

const MICROSECONDS = (time: string): string => `(extract(epoch FROM ${time}) * 1000000)::bigint`

/** A lease lasts for this time after its last beat, by the clock of PostgreSQL (contract C18). */
const LEASE_US = 2_000_000
/** A clock that was put back must not keep the lease of a server that is gone. */
export const LEASE_IS_OVER = `(holder IS NULL OR abs(${MICROSECONDS('clock_timestamp()')} - (SELECT last_value FROM scrip.last_beat)) > ${LEASE_US})`

/** The number of the last commit. */
export const LAST_SEQ = '(SELECT max(seq) FROM scrip.changes)'
/** The same as of the last beat, if somebody has deleted the changes. */
export const KNOWN_SEQ = `coalesce(${LAST_SEQ}, (SELECT last_value FROM scrip.last_seq))`

/** Scrip's own SQLSTATEs: another server has the lease; the commit does not follow the last one. */
export const LEASE_LOST = 'SC001'
export const OUT_OF_ORDER = 'SC002'

/** Tables about the installation itself, without its data. */
const OWN_TABLES = [
  `CREATE TABLE scrip.installation (
     id text PRIMARY KEY, release text NOT NULL, schema_version bigint NOT NULL, epoch bigint NOT NULL, holder text, url text
   )`,
  'CREATE UNIQUE INDEX installation_is_one ON scrip.installation ((true))',
  // A beat writes two sequences, which have one version: PostgreSQL keeps each version of a row for as long as somebody holds a snapshot.
  // Microseconds by the clock of PostgreSQL.
  'CREATE SEQUENCE scrip.last_beat MINVALUE 0',
  'CREATE SEQUENCE scrip.last_seq',
  // The epoch again, in a row that each commit locks.
  'CREATE TABLE scrip.fence (epoch bigint NOT NULL)',
  'CREATE UNIQUE INDEX fence_is_one ON scrip.fence ((true))',
  // Not compressed: it would take as long as the commit.
  `CREATE TABLE scrip.changes (
     seq bigint PRIMARY KEY, epoch bigint NOT NULL, at timestamptz NOT NULL, rows json
   )`,
  'ALTER TABLE scrip.changes ALTER COLUMN rows SET STORAGE EXTERNAL',
  'CREATE INDEX changes_at ON scrip.changes (at)',
  `CREATE TABLE scrip.followers (
     holder text PRIMARY KEY, url text, seq bigint NOT NULL, at timestamptz NOT NULL
   ) WITH (fillfactor = 20)`,
  'CREATE TABLE scrip.key_checks (name text PRIMARY KEY, value text NOT NULL)',
]

/** Texts compare by code point, as in SQLite. */
const typeOf = ({ type }: Column): string => POSTGRES_TYPES[type] + (type === 'TEXT' ? ' COLLATE "C"' : '')

const tableStatement = ({ name, columns, key, unique }: Table): string => {
  const parts = [
    ...columns.map((column) => `${quotedName(column.name)} ${typeOf(column)}${column.isRequired ? ' NOT NULL' : ''}`),
    `PRIMARY KEY (${list(key)})`,
    // Checked at the commit: rows may swap places within it.
    ...unique.map(({ name: constraint, columns: names, condition }) =>
      condition === undefined
        ? `CONSTRAINT ${quotedName(constraint)} UNIQUE (${list(names)}) DEFERRABLE INITIALLY DEFERRED`
        : `CONSTRAINT ${quotedName(constraint)} EXCLUDE USING btree (${names.map((one) => `${quotedName(one)} WITH =`).join(', ')}) WHERE (${condition}) DEFERRABLE INITIALLY DEFERRED`,
    ),
  ]
  return `CREATE TABLE scrip.${quotedName(name)} (${parts.join(', ')})`
}

export const OWN_TABLE_NAMES = ['installation', 'fence', 'changes', 'followers', 'key_checks']

/** The statements that make an empty installation, in order. */
export const schemaStatements = (tables: readonly Table[]): string[] => [...OWN_TABLES, ...dataStatements(tables)]

/** The tables of the data, and the functions that write them. */
export const dataStatements = (tables: readonly Table[]): string[] => [
  ...tables.map(tableStatement),
  applyFunction(tables),
  ...functionStatements,
]

/** The condition that two rows have the same key. */
const sameKey = (key: readonly string[], one: string, other: string): string =>
  key.map((name) => `${one}.${quotedName(name)} = ${other}.${quotedName(name)}`).join(' AND ')

/** Writes the rows of a commit: `{"payouts": [{...}], "-payouts": [{"id": ...}]}`, the latter being deleted. */
const applyFunction = (tables: readonly Table[]): string => {
  const branches = tables.flatMap(({ name, columns, key }) => {
    const table = `scrip.${quotedName(name)}`
    const rows = `json_populate_recordset(NULL::${table}, v_rows)`
    const others = columns.map((column) => column.name).filter((column) => !key.includes(column))
    const update =
      others.length === 0
        ? 'NOTHING'
        : `UPDATE SET ${others.map((column) => `${quotedName(column)} = EXCLUDED.${quotedName(column)}`).join(', ')}`
    return [
      `WHEN '${name}' THEN INSERT INTO ${table} SELECT * FROM ${rows} ON CONFLICT (${list(key)}) DO ${update};`,
      `WHEN '-${name}' THEN DELETE FROM ${table} AS t USING ${rows} AS r WHERE ${sameKey(key, 't', 'r')};`,
    ]
  })
  return `CREATE OR REPLACE FUNCTION scrip.apply(p_rows json) RETURNS void LANGUAGE plpgsql AS $function$
DECLARE v_table text; v_rows json;
BEGIN
  FOR v_table, v_rows IN SELECT key, value FROM json_each(p_rows) LOOP
    CASE v_table
      ${branches.join('\n      ')}
      WHEN '${ERASURE}' THEN NULL;
      ELSE RAISE EXCEPTION 'the record has no table %', v_table USING ERRCODE = '42P01';
    END CASE;
  END LOOP;
END $function$`
}

const MAY_TAKE = `(i.holder = p_holder OR ${LEASE_IS_OVER.replace('holder', 'i.holder')})`
const BEAT = `setval('scrip.last_beat', ${MICROSECONDS('clock_timestamp()')})`

/** The functions that are the same in every schema version. */
export const functionStatements = [
  // A setting of the transaction, because a pooler may give each one another session.
  `CREATE OR REPLACE FUNCTION scrip.wait_for_the_disk() RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $function$`,
  // One commit of the active server, or, with p_is_last false, a part of a large one. It writes no row that the next one writes
  // again. Its last look at the epoch locks the fence, which a takeover waits for: no server takes the lease between this look and
  // the commit. A refusal is returned: PostgreSQL logs the statement of an error, with the rows and the persons in them.
  `CREATE OR REPLACE FUNCTION scrip.commit(
  p_epoch bigint, p_seq bigint, p_rows text, p_erases boolean, p_is_last boolean
) RETURNS TABLE (at bigint, state text, problem text) LANGUAGE plpgsql AS $function$
#variable_conflict use_column
DECLARE v_at timestamptz := clock_timestamp(); v_epoch bigint; v_seq bigint;
BEGIN
  PERFORM scrip.wait_for_the_disk();
  SELECT epoch INTO v_epoch FROM scrip.fence;
  IF v_epoch IS DISTINCT FROM p_epoch THEN
    RAISE EXCEPTION 'the lease is another server''s' USING ERRCODE = '${LEASE_LOST}';
  END IF;
  SELECT ${LAST_SEQ} INTO v_seq;
  IF v_seq < p_seq - 1 THEN
    RAISE EXCEPTION 'commit % does not follow %', p_seq, v_seq USING ERRCODE = '${OUT_OF_ORDER}';
  END IF;
  IF p_erases THEN UPDATE scrip.changes SET rows = NULL WHERE rows IS NOT NULL; END IF;
  INSERT INTO scrip.changes (seq, epoch, at, rows) VALUES (p_seq, p_epoch, v_at, p_rows::json) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the record has a commit % that this copy lacks', p_seq USING ERRCODE = '${OUT_OF_ORDER}';
  END IF;
  PERFORM scrip.apply(p_rows::json);
  IF p_is_last THEN
    SET CONSTRAINTS ALL IMMEDIATE;
    SELECT epoch INTO v_epoch FROM scrip.fence FOR SHARE;
    IF v_epoch <> p_epoch THEN
      RAISE EXCEPTION 'the lease is another server''s' USING ERRCODE = '${LEASE_LOST}';
    END IF;
  END IF;
  RETURN QUERY SELECT ${MICROSECONDS('v_at')}, NULL, NULL;
EXCEPTION WHEN OTHERS THEN
  RETURN QUERY SELECT NULL::bigint, SQLSTATE, SQLERRM;
END $function$`,
  // Takes the lease if it is free, has run out, or is the caller's own, and begins an epoch. Returns no row if another server has it.
  // It waits for a commit or a beat that has locked the fence, looks again then, and its own epoch refuses each one that has not.
  `CREATE OR REPLACE FUNCTION scrip.take(p_holder text, p_url text)
RETURNS TABLE (epoch bigint, schema_version bigint) LANGUAGE plpgsql AS $function$
#variable_conflict use_column
DECLARE v_epoch bigint; v_schema_version bigint;
BEGIN
  PERFORM scrip.wait_for_the_disk();
  PERFORM FROM scrip.installation AS i WHERE ${MAY_TAKE};
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM FROM scrip.fence FOR UPDATE;
  UPDATE scrip.installation AS i SET epoch = i.epoch + 1, holder = p_holder, url = p_url WHERE ${MAY_TAKE}
    RETURNING i.epoch, i.schema_version INTO v_epoch, v_schema_version;
  IF FOUND THEN
    UPDATE scrip.fence SET epoch = v_epoch;
    PERFORM ${BEAT};
    RETURN QUERY SELECT v_epoch, v_schema_version;
  END IF;
END $function$`,
  `CREATE OR REPLACE FUNCTION scrip.beat(p_epoch bigint) RETURNS boolean LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM scrip.wait_for_the_disk();
  PERFORM FROM scrip.fence WHERE epoch = p_epoch FOR SHARE;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM ${BEAT}, setval('scrip.last_seq', ${LAST_SEQ});
  RETURN true;
END $function$`,
  `CREATE OR REPLACE FUNCTION scrip.free(p_epoch bigint) RETURNS boolean LANGUAGE plpgsql AS $function$
BEGIN
  UPDATE scrip.installation SET holder = NULL, url = NULL WHERE epoch = p_epoch;
  RETURN FOUND;
END $function$`,
]
