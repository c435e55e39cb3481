/** The types of SQL, with what both protocols need to name them. */

import type { Node } from '@pgsql/types';

/** Names are PostgreSQL's internal ones (`int4`, `timestamptz`); MySQL's map onto them or stand beside them. */
export interface SqlType {
  readonly name: TypeName;
  /** PostgreSQL's object number; 0 for types that only MySQL has. The array of a user's type has the number after its element's. */
  readonly oid: number;
  /** Arrays: the type of the elements. */
  readonly element?: SqlType;
  /** Enums: the labels in order. */
  readonly labels?: readonly string[];
  /** Enums: the numbers that order them in pg_enum, where labels were added later. */
  readonly labelOrders?: readonly number[];
  /** Enums: the name they were created with, for messages and `format_type`. */
  readonly title?: string;
  /** A type of columns and casts that is another one with conditions. Expressions have that one. */
  readonly domain?: Domain;
  /** Records: what `ROW(...)` or a table's alias has. The value is an array of the fields' values. */
  readonly fields?: readonly { readonly name: string; readonly type: SqlType }[];
}

/** Made by CREATE DOMAIN. What the domain under it asks is among its own. */
export interface Domain {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** The type whose values it has, which is no domain. */
  readonly base: SqlType;
  readonly modifier: number;
  readonly isNotNull: boolean;
  /** In the order in which they are evaluated; `VALUE` is a column. */
  readonly checks: readonly { readonly name: string; readonly expression: Node }[];
  readonly default: Node | null;
  /** The domains under it. */
  readonly over: readonly number[];
}

export type TypeName =
  | 'bool'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'uint8' // MySQL: bigint unsigned
  | 'numeric'
  | 'float4'
  | 'float8'
  | 'text'
  | 'varchar'
  | 'bpchar'
  | 'char' // PostgreSQL's one-byte "char" of the catalogs
  | 'name'
  | 'oid'
  | 'xid' // the number of a transaction
  | 'regclass' // as its text: the name as PostgreSQL would print it
  | 'regtype' // as its text
  | 'regnamespace' // as its text
  | 'regrole' // as its text
  | 'bytea'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'interval'
  | 'uuid'
  | 'json'
  | 'jsonb'
  | 'array'
  | 'enum'
  | 'record'
  | 'unknown'
  | 'void';

type NamedType = Exclude<TypeName, 'array' | 'enum'>;

/** Type number and the number of the array type over it: catalog pg_type. 0: there is none. */
const numbers: Readonly<Record<NamedType, readonly [oid: number, array: number]>> = {
  bool: [16, 1000],
  int2: [21, 1005],
  int4: [23, 1007],
  int8: [20, 1016],
  uint8: [0, 0],
  numeric: [1700, 1231],
  float4: [700, 1021],
  float8: [701, 1022],
  text: [25, 1009],
  varchar: [1043, 1015],
  bpchar: [1042, 1014],
  char: [18, 1002],
  name: [19, 1003],
  oid: [26, 1028],
  xid: [28, 1011],
  regclass: [2205, 2210],
  regtype: [2206, 2211],
  regnamespace: [4089, 4090],
  regrole: [4096, 4097],
  bytea: [17, 1001],
  date: [1082, 1182],
  time: [1083, 1183],
  timestamp: [1114, 1115],
  timestamptz: [1184, 1185],
  interval: [1186, 1187],
  uuid: [2950, 2951],
  json: [114, 199],
  jsonb: [3802, 3807],
  record: [2249, 2287],
  unknown: [705, 0],
  void: [2278, 0],
};

const names = Object.keys(numbers) as NamedType[];

export const types = Object.fromEntries(names.map((name) => [name, { name, oid: numbers[name][0] }])) as Readonly<
  Record<NamedType, SqlType>
>;

const arrays = new Map<SqlType, SqlType>();

/** `type[]`: the same object for the same type. */
export function arrayOf(element: SqlType): SqlType {
  const known = arrays.get(element) ?? userArrays.get(element);
  if (known !== undefined) return known;
  const made: SqlType = { name: 'array', oid: numberOfType(element) + 1, element };
  userArrays.set(element, made);
  return made;
}

/** PostgreSQL's catalogs list columns in it: an array in every way but its text, `1 2 3`. */
export const int2vector: SqlType = { name: 'array', oid: 22, element: types.int2, title: 'int2vector' };

/** Arrays of enums go when their enums go. */
const userArrays = new WeakMap<SqlType, SqlType>();
for (const name of names) {
  const [, oid] = numbers[name];
  if (oid !== 0) arrays.set(types[name], { name: 'array', oid, element: types[name] });
}

const byOid = new Map<number, SqlType>();
for (const type of [...Object.values(types), ...arrays.values()]) if (type.oid !== 0) byOid.set(type.oid, type);

/** A type that PostgreSQL itself has; users' types are in the catalog. */
export function typeOfOid(oid: number): SqlType | undefined {
  return byOid.get(oid);
}

/** What SQL calls the types beside their internal names. */
const aliases: ReadonlyMap<string, SqlType> = new Map([
  ['boolean', types.bool],
  ['smallint', types.int2],
  ['integer', types.int4],
  ['int', types.int4],
  ['bigint', types.int8],
  ['decimal', types.numeric],
  ['dec', types.numeric],
  ['real', types.float4],
  ['float', types.float8],
  ['double precision', types.float8],
  ['character varying', types.varchar],
  ['character', types.bpchar],
  ['timestamp without time zone', types.timestamp],
  ['timestamp with time zone', types.timestamptz],
  ['time without time zone', types.time],
]);

/**
 * A type by its internal or SQL name, lower case, without a length; `name[]` and `_name` are arrays. `undefined`: not one of ours.
 * `serial` is no type but a column definition.
 */
export function typeByName(name: string): SqlType | undefined {
  if (name.endsWith('[]')) return arrayOrUndefined(typeByName(name.slice(0, -2)));
  const alias = aliases.get(name) ?? (name === '"char"' ? types.char : undefined);
  if (alias !== undefined) return alias;
  if (isNamedType(name)) return types[name].oid === 0 ? undefined : types[name];
  return name.startsWith('_') ? arrayOrUndefined(typeByName(name.slice(1))) : undefined;
}

function arrayOrUndefined(element: SqlType | undefined): SqlType | undefined {
  return element === undefined ? undefined : arrayOf(element);
}

function isNamedType(name: string): name is NamedType {
  return Object.hasOwn(numbers, name);
}

/** The number of a type that a column or a cast names. */
export function numberOfType({ oid, domain }: SqlType): number {
  return domain?.oid ?? oid;
}

/** The same type? Enums by number, since ALTER TYPE makes a new object of the same type. */
export function isSameType(a: SqlType, b: SqlType): boolean {
  if (a === b) return true;
  return a.name === b.name && a.oid === b.oid && (a.name !== 'array' || isSameType(a.element ?? a, b.element ?? b));
}

const lengths: { readonly [Name in TypeName]?: number } = {
  bool: 1,
  char: 1,
  int2: 2,
  int4: 4,
  oid: 4,
  xid: 4,
  regclass: 4,
  regtype: 4,
  regnamespace: 4,
  regrole: 4,
  float4: 4,
  date: 4,
  enum: 4,
  int8: 8,
  float8: 8,
  time: 8,
  timestamp: 8,
  timestamptz: 8,
  interval: 16,
  uuid: 16,
  name: 64,
  unknown: -2,
  void: 4,
};

/** pg_type.typlen: in bytes; -1: varies, -2: up to a zero byte. */
export function typeLength({ name }: SqlType): number {
  return lengths[name] ?? -1;
}
