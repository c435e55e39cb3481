/** Random small tables: every type of the issue, NULLs and equal values everywhere, keys, defaults, checks and references. */
import type { Dialect } from '../../src/sql/model/index.ts';
import type { Choices } from './choices.ts';

/** What can be compared and computed with what. */
export type Family =
  | 'number'
  | 'bool'
  | 'text'
  | 'bytes'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'interval'
  | 'uuid'
  | 'json'
  | 'array'
  | 'enum';

interface ColumnType {
  readonly sql: string;
  readonly family: Family;
  /** Values that it takes, as literals; the simplest first. */
  readonly literals: readonly string[];
  /** What it may refuse, cut or convert. */
  readonly odd: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly family: Family;
  readonly literals: readonly string[];
  readonly odd: readonly string[];
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Has it a primary key `id`? */
  readonly isKeyed: boolean;
  /** Unique columns besides the key. */
  readonly unique: readonly string[];
}

export interface Schema {
  readonly tables: readonly Table[];
  readonly statements: readonly string[];
}

function type(sql: string, family: Family, literals: readonly string[], odd: readonly string[] = []): ColumnType {
  return { sql, family, literals, odd };
}

const words = ["'a'", "'b'", "''", "'C'", "'abc'", "'a_c'", "'10'", "'é'"];

const postgresTypes: readonly ColumnType[] = [
  type('int', 'number', ['1', '0', '2', '-3', '2147483647'], ['2147483648', "'x'", '1.5', 'true']),
  type('text', 'text', words, ['5', "E'\\n'"]),
  type('smallint', 'number', ['1', '0', '2', '-3'], ['32768', "'7'", '2.5']),
  type('bigint', 'number', ['1', '0', '-2', '9007199254740993'], ['9223372036854775808']),
  type('numeric(8,2)', 'number', ['1.00', '0.50', '-2.25'], ['1.005', '1234567.89', "'NaN'"]),
  type('numeric', 'number', ['1.5', '-2.25', '1000000000000.001'], ["'Infinity'", '1e3']),
  type('real', 'number', ['1.5', '0', '-0.25'], ['1e39', "'NaN'", '0.1']),
  type('double precision', 'number', ['1.5', '0', '-0.25', '1e100'], ["'Infinity'", '0.1']),
  type('boolean', 'bool', ['true', 'false'], ["'yes'", "'maybe'", '1']),
  type('varchar(5)', 'text', ["'a'", "'b'", "''", "'abc'"], ["'abcdef'", "'abc     '"]),
  type('char(3)', 'text', ["'a'", "'bc'", "'abc'"], ["'abcd'", "''"]),
  type('bytea', 'bytes', ["'\\x01'", "'\\x00ff'", "''"], ["'\\xzz'"]),
  type('date', 'date', ["'2024-01-31'", "'2024-02-29'", "'1999-12-31'"], ["'2024-02-30'", "'infinity'", '5']),
  type('time', 'time', ["'10:00'", "'23:59:59.5'", "'00:00'"], ["'25:00'", "'24:00'"]),
  type('timestamp', 'timestamp', ["'2024-01-31 10:00'", "'2024-02-29 23:59:59.123456'"], ["'2024-13-01'"]),
  type('timestamptz', 'timestamp', ["'2024-01-31 10:00+00'", "'2024-03-10 02:30-05'"], ["'now-ish'"]),
  type('interval', 'interval', ["'1 day'", "'2 months 3 hours'", "'-90 minutes'"], ["'much'"]),
  type('uuid', 'uuid', ["'11111111-2222-3333-4444-555555555555'", "'A0EEBC999C0B4EF8BB6D6BB9BD380A11'"], ["'1-2'"]),
  type('jsonb', 'json', ['\'{"a":1,"b":[1,null]}\'', "'[1,2]'", "'null'", '\'"x"\''], ["'{a:1}'"]),
  type('json', 'json', ['\'{"a": 1, "a": 2}\'', "'[1, 2]'", "'3'"], ["'[1,]'"]),
  type('int[]', 'array', ["'{1,2}'", "'{}'", 'ARRAY[3,NULL]', "'{{1,2},{3,4}}'"], ["'{1'", "'{{1},{2,3}}'"]),
  type('text[]', 'array', ["'{a,b}'", `'{"a b",NULL,"NULL"}'`, "ARRAY['x']"], ["'{a'"]),
  type('mood', 'enum', ["'sad'", "'ok'", "'happy'"], ["'glad'"]),
];

const mysqlTypes: readonly ColumnType[] = [
  type('INT', 'number', ['1', '0', '2', '-3', '2147483647'], ['2147483648', "'x'", '1.5', 'TRUE', "'7'"]),
  type('VARCHAR(5)', 'text', words, ["'abcdef'", "'abc     '", '12']),
  type('TINYINT', 'number', ['1', '0', '-3', '127'], ['128', "'3x'"]),
  type('SMALLINT UNSIGNED', 'number', ['1', '0', '65535'], ['-1', '65536']),
  type('BIGINT', 'number', ['1', '0', '-2', '9007199254740993'], ['9223372036854775808']),
  type('BIGINT UNSIGNED', 'number', ['1', '0', '18446744073709551615'], ['-1']),
  type('DECIMAL(8,2)', 'number', ['1.00', '0.50', '-2.25'], ['1.005', '1234567.89', "'1.5'"]),
  type('FLOAT', 'number', ['1.5', '0', '-0.25'], ["'abc'"]),
  type('DOUBLE', 'number', ['1.5', '0', '-0.25', '1e100'], ['1e400']),
  type('BOOLEAN', 'number', ['TRUE', 'FALSE'], ["'yes'", '5']),
  type('TEXT', 'text', words, ['5']),
  type('CHAR(3)', 'text', ["'a'", "'bc'", "'abc'"], ["'abcd'", "''"]),
  type('BLOB', 'bytes', ["x'01'", "x'00ff'", "''"], ["'é'"]),
  type('VARBINARY(4)', 'bytes', ["x'01'", "x'00ff'", "''"], ["'abcde'"]),
  type('DATE', 'date', ["'2024-01-31'", "'2024-02-29'", "'1999-12-31'"], ["'2024-02-30'", '20240105', "'2024-1-5'"]),
  type('TIME', 'time', ["'10:00:00'", "'23:59:59'", "'-100:00:00'"], ["'900:00:00'", "'x'"]),
  type('DATETIME', 'timestamp', ["'2024-01-31 10:00:00'", "'2024-02-29 23:59:59'"], ["'2024-13-01'", "'2024-01-01'"]),
  type('DATETIME(6)', 'timestamp', ["'2024-01-31 10:00:00.5'", "'2024-02-29 23:59:59.123456'"], ["'nope'"]),
  type('TIMESTAMP NULL', 'timestamp', ["'2024-01-31 10:00:00'", "'2024-02-29 23:59:59'"], ["'1960-01-01'"]),
  type('YEAR', 'number', ['2024', '1999'], ['1800', "'24'"]),
  type('JSON', 'json', ['\'{"a": 1, "b": [1, null]}\'', "'[1, 2]'"], ["'{a:1}'"]),
  type("ENUM('sad','ok','happy')", 'enum', ["'sad'", "'ok'", "'happy'"], ["'glad'", '2']),
];

const actions = ['CASCADE', 'NO ACTION', 'RESTRICT', 'SET NULL', 'SET DEFAULT'];

/** Three tables: t0 has a key, t1 draws its own and refers to t0, t2 has neither. */
export function randomSchema(choices: Choices, dialect: Dialect): Schema {
  const types = dialect === 'postgres' ? postgresTypes : mysqlTypes;
  const statements = dialect === 'postgres' ? ["CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')"] : [];
  const tables = ['t0', 't1', 't2'].map((name) => randomTable(choices, dialect, name, types, statements));
  for (const table of tables) statements.push(...indexes(choices, dialect, table), ...rows(choices, table));
  return { tables, statements };
}

function randomTable(
  choices: Choices,
  dialect: Dialect,
  name: string,
  types: readonly ColumnType[],
  statements: string[],
): Table {
  const int = types[0] as ColumnType;
  const made: { column: Column; definition: string }[] = [];
  const unique: string[] = [];
  const add = (columnName: string, { family, literals, odd }: ColumnType, definition: string): void => {
    made.push({ column: { name: columnName, family, literals, odd }, definition: `${columnName} ${definition}` });
  };
  add('id', int, name === 't2' ? 'int' : key(choices, dialect, name));
  add('r', int, name === 't1' ? reference(choices, dialect) : 'int');
  choices.list(1, 4, (i) => {
    const chosen = i === 0 ? choices.pick(types.slice(0, 2)) : choices.pick(types);
    const columnName = `${chosen.family.slice(0, 1)}${i}`;
    const isUnique = name !== 't2' && !['json', 'bytes', 'array'].includes(chosen.family) && choices.rarely(8);
    if (isUnique && chosen.sql !== 'TEXT') unique.push(columnName);
    add(columnName, chosen, `${chosen.sql}${constraints(choices, chosen, columnName, unique.includes(columnName))}`);
  });
  const definitions = made.map(({ definition }) => definition);
  if (dialect === 'mysql' && name === 't1') {
    const rules = `ON DELETE ${choices.pick(actions.slice(0, 4))} ON UPDATE ${choices.pick(actions.slice(0, 4))}`;
    definitions.push(`CONSTRAINT t1_r FOREIGN KEY (r) REFERENCES t0 (id) ${rules}`);
  }
  statements.push(`CREATE TABLE ${name} (${definitions.join(', ')})`);
  return { name, columns: made.map(({ column }) => column), isKeyed: name !== 't2', unique };
}

function key(choices: Choices, dialect: Dialect, name: string): string {
  if (name === 't0') return 'int PRIMARY KEY';
  if (dialect === 'mysql') return 'int AUTO_INCREMENT PRIMARY KEY';
  return choices.pick([
    'serial PRIMARY KEY',
    'int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
    'int GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  ]);
}

function reference(choices: Choices, dialect: Dialect): string {
  if (dialect === 'mysql') return 'int';
  const deferred = choices.rarely(6) ? ' DEFERRABLE INITIALLY DEFERRED' : '';
  return `int DEFAULT 1 REFERENCES t0 ON DELETE ${choices.pick(actions)} ON UPDATE ${choices.pick(actions)}${deferred}`;
}

function constraints(choices: Choices, { family, literals, sql }: ColumnType, name: string, isUnique: boolean): string {
  const mayDefault = !['TEXT', 'BLOB', 'JSON', 'TIMESTAMP NULL'].includes(sql);
  return [
    mayDefault && choices.rarely(4) ? ` DEFAULT ${choices.pick(literals)}` : '',
    sql !== 'TIMESTAMP NULL' && choices.rarely(6) ? ' NOT NULL' : '',
    isUnique ? ' UNIQUE' : '',
    family === 'number' && choices.rarely(6) ? ` CHECK (${name} > -3)` : '',
  ].join('');
}

function indexes(choices: Choices, dialect: Dialect, { name, columns }: Table): string[] {
  if (!choices.rarely(3)) return [];
  const able = columns.filter(({ family }) => family === 'number' || family === 'date');
  const [first, second] = [choices.pick(able).name, choices.pick(able).name];
  const list = first === second ? first : `${first}, ${second}`;
  const partial = dialect === 'postgres' && choices.rarely(3) ? ` WHERE ${first} IS NOT NULL` : '';
  return [`CREATE INDEX i_${name}_${first} ON ${name} (${list})${partial}`];
}

function rows(choices: Choices, { name, columns }: Table): string[] {
  const named = columns.filter((column) => name !== 't1' || column.name !== 'id');
  const tuples = choices.list(1, 5, (i) => {
    const values = named.map((column) => {
      if (column.name === 'id') return String(i + 1);
      if (column.name === 'r') return choices.pick(['1', 'NULL', '1', '2']);
      return choices.rarely(4) ? 'NULL' : choices.pick(column.literals);
    });
    return `(${values.join(', ')})`;
  });
  return [`INSERT INTO ${name} (${named.map((column) => column.name).join(', ')}) VALUES ${tuples.join(', ')}`];
}
