/** Rows of pg_type. */
import { categoryOf } from '../../expressions/cast-rules.ts';
import { arrayOf, type SqlType, type TypeName, types } from '../../model/index.ts';
import { owner, schemaId } from './pg-names.ts';
import type { VirtualRow } from './virtual.ts';

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

/** pg_attribute.attstorage: plain, main or extended. */
export function storageOf(type: SqlType): 'p' | 'm' | 'x' {
  if (type.name === 'numeric') return 'm';
  return typeLength(type) > 0 ? 'p' : 'x';
}

/** The type and its array. */
export function* typeRows(type: SqlType, name: string, schema: string): Iterable<VirtualRow> {
  const isPseudo = ['record', 'void', 'unknown'].includes(type.name);
  const array = isPseudo && type.name !== 'record' ? null : arrayOf(type);
  const base = {
    typnamespace: schemaId(schema),
    typowner: owner,
    typispreferred: false,
    typisdefined: true,
    typdelim: ',',
    typrelid: 0,
    typbasetype: 0,
    typtypmod: -1,
    typnotnull: false,
    typndims: 0,
    typcollation: 0,
  };
  const kind = type.name === 'enum' ? 'e' : isPseudo ? 'p' : 'b';
  const length = typeLength(type);
  yield {
    ...base,
    oid: type.oid,
    typname: name,
    typlen: length,
    typbyval: length > 0 && length <= 8,
    typtype: kind,
    typcategory: categoryOf(type.name),
    typelem: 0,
    typarray: array?.oid ?? 0,
    typinput: type.name === 'enum' ? 'enum_in' : `${name}in`,
  };
  if (array === null) return;
  yield {
    ...base,
    oid: array.oid,
    typname: `_${name}`,
    typlen: -1,
    typbyval: false,
    typtype: isPseudo ? 'p' : 'b',
    typcategory: 'A',
    typelem: type.oid,
    typarray: 0,
    typinput: 'array_in',
  };
}

/** Of every type that each database has. Drivers and ORMs ask for them with each connection. */
export const builtInTypeRows: readonly VirtualRow[] = Object.values(types)
  .filter(({ oid }) => oid !== 0)
  .flatMap((type) => [...typeRows(type, type.name, 'pg_catalog')]);
